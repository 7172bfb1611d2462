import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { account } from "../../api/account.ts";
import { call } from "../../api/client.ts";
import type { Workspace } from "../../api/records.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Choice } from "../../parts/fields.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { useResource } from "../../parts/resource.ts";
import { Awaited } from "../../parts/states.tsx";
import { momentOf } from "../../parts/times.ts";
import { showToast } from "../../parts/toasts.tsx";

const TITLE = "Have your voice remembered";
/** The newest sessions of a workspace whose voices are looked through. */
const MOST_SESSIONS = 20;

interface GiveVoiceProps {
  /** The one workspace that it is for; without it the person chooses one. */
  workspaceId?: string;
  /** Whether the print that it replaces stays when its sound is deleted. */
  keeps?: boolean;
  onGiven: () => void;
  onClose: () => void;
}

/** Asks of which voice the print is made, and for the consent. */
export function GiveVoiceDialog({ workspaceId, keeps, onGiven, onClose }: GiveVoiceProps): VNode {
  const { state, reload } = useResource(() => ownVoices(workspaceId), [workspaceId]);
  const [chosen, choose] = useState("");
  if (state.kind !== "ready") {
    return (
      <Dialog title={TITLE} onClose={onClose}>
        <Awaited of={{ state, reload }} what="your sessions" lines={3} />
      </Dialog>
    );
  }
  const voices = state.value;
  if (voices.length === 0) return <NoVoice onClose={onClose} />;
  const give = async (fields: FormData) => {
    const { place } = voices.find(({ id }) => id === fields.get("voice")) ?? voices[0] ?? {};
    if (place === undefined) return;
    const body = { ...place, consent: true, keep_after_deletion: fields.has("keep") };
    const { speech_ms: speech } = await call((api) => api.PUT("/users/me/voice", { body }));
    showToast(`Your voice is remembered, of ${Math.round(speech / 1_000)} s of speech.`);
    onGiven();
  };
  return (
    <FormDialog title={TITLE} submit="Remember my voice" onSubmit={give} onClose={onClose}>
      <Choice
        label="Of which voice?"
        name="voice"
        value={chosen || voices[0]?.id}
        of={voices}
        onChoose={choose}
      />
      <label class="check">
        <input type="checkbox" name="keep" defaultChecked={keeps === true} />
        <span>Keep it also when that session or its sound is deleted</span>
      </label>
      <label class="check">
        <input type="checkbox" name="consent" required />
        <span>
          I agree that a print of my voice, which is biometric data, is kept in the workspace to
          suggest my name for voices like it. I can have it forgotten at any time.
        </span>
      </label>
    </FormDialog>
  );
}

function NoVoice({ onClose }: { onClose: () => void }): VNode {
  return (
    <Dialog title={TITLE} onClose={onClose}>
      <p>
        No voice of a session is yours yet. Record yourself alone for 10 s, or open a session in
        which you speak, and say of the voice that it is you.
      </p>
      <div class="row">
        <Link class="button primary" href="/record">
          Record myself
        </Link>
        <Link class="button" href="/">
          To the sessions
        </Link>
      </div>
    </Dialog>
  );
}

interface OwnVoice {
  id: string;
  /** Session, time, workspace and voice. */
  name: string;
  place: { workspace_id: string; session_id: string; label: string };
}

/** The voices that the person has claimed, the newest session first. */
async function ownVoices(workspaceId: string | undefined): Promise<OwnVoice[]> {
  const me = account.value?.id ?? "";
  const query = {
    limit: MOST_SESSIONS,
    speaker_user_id: me,
    ...(workspaceId !== undefined && { workspace_id: workspaceId }),
  };
  const [sessions, workspaces] = await Promise.all([
    call((api) => api.GET("/sessions", { params: { query } })),
    call((api) => api.GET("/workspaces", { params: { query: { limit: 100 } } })),
  ]);
  const found = sessions.items.map(async (session) => {
    const params = { path: { session_id: session.id } };
    const { items } = await call((api) => api.GET("/sessions/{session_id}/speakers", { params }));
    const mine = items.filter(({ claimed_user_id: claimant }) => claimant === me);
    const place = { workspace_id: session.workspace_id, session_id: session.id };
    const about = [session.title || "Untitled", momentOf(session.started_at ?? session.created_at)];
    if (workspaceId === undefined) about.push(nameOf(workspaces.items, session.workspace_id));
    return mine.map(({ speaker_label: label }) => ({
      id: `${session.id} ${label}`,
      name: [...about, `Speaker ${label.slice(1)}`].join(" · "),
      place: { ...place, label },
    }));
  });
  return (await Promise.all(found)).flat();
}

function nameOf(workspaces: readonly Workspace[], wanted: string): string {
  return workspaces.find(({ id }) => id === wanted)?.name ?? "";
}
