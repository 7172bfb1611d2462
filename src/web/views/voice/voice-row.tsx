import { Fingerprint, RefreshCw, Trash2 } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { ApiError } from "../../../client/errors.ts";
import { call } from "../../api/client.ts";
import type { RememberedVoice, VoiceList } from "../../api/records.ts";
import { ActionMenu } from "../../parts/action-menu.tsx";
import { Alert } from "../../parts/alert.tsx";
import { useDeed } from "../../parts/deed.ts";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { RecordRow } from "../../parts/record-row.tsx";
import { useResource } from "../../parts/resource.ts";
import { lengthOf, momentOf } from "../../parts/times.ts";
import { showToast } from "../../parts/toasts.tsx";
import { GiveVoiceDialog } from "./give-voice-dialog.tsx";

interface RowProps<V> {
  voice: V;
  /** What the workspace is called. */
  workspace: string;
  onChanged: () => void;
}

type Opened = "renew" | "forget" | undefined;

/** One workspace in which the voice is remembered. */
export function VoiceRow({ voice, workspace, onChanged }: RowProps<RememberedVoice>): VNode {
  const [opened, open] = useState<Opened>();
  const choices = [
    { what: "renew", label: "Renew", Icon: RefreshCw },
    { what: "forget", label: "Forget", Icon: Trash2 },
  ] as const;
  const close = () => open(undefined);
  return (
    <RecordRow
      icon={<Fingerprint size={20} aria-hidden="true" />}
      title={workspace}
      facts={[
        `since ${momentOf(voice.remembered_at)}`,
        `of ${lengthOf(voice.speech_ms)} of speech`,
        <Source key="source" voice={voice} />,
        `network: ${voice.method}`,
      ]}
      actions={
        <ActionMenu label={`What to do in ${workspace}`} choices={choices} onChoose={open} />
      }
    >
      <p class="small">
        {voice.keep_after_deletion
          ? "It stays when the sound that it was made of is deleted. When your claim on that voice ends, it goes."
          : "It goes when the sound that it was made of is deleted or blacked out, or your claim on that voice ends."}
      </p>
      {opened === "renew" && (
        <GiveVoiceDialog
          workspaceId={voice.workspace_id}
          keeps={voice.keep_after_deletion}
          onGiven={onChanged}
          onClose={close}
        />
      )}
      {opened === "forget" && <ForgetDialog {...{ voice, workspace, onChanged }} onClose={close} />}
    </RecordRow>
  );
}

/** The session that it was made of, by its title; those that are gone, or not for them, have none. */
function Source({ voice }: { voice: RememberedVoice }): VNode {
  const { session_id: id, label } = voice;
  const { state } = useResource(async () => {
    const params = { path: { session_id: id } };
    try {
      return await call((api) => api.GET("/sessions/{session_id}", { params }));
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }, [id]);
  if (state.kind !== "ready") return <span>from a session</span>;
  if (state.value === undefined) return <span>from a session that is gone</span>;
  return (
    <span>
      from <Link href={`/sessions/${id}`}>{state.value.title || "Untitled"}</Link>, Speaker{" "}
      {label.slice(1)}
    </span>
  );
}

function ForgetDialog({
  voice: { workspace_id: workspaceId },
  workspace,
  onChanged,
  onClose,
}: RowProps<RememberedVoice> & { onClose: () => void }): VNode {
  const forget = async () => {
    showToast(await forgetIn(workspaceId));
    onChanged();
  };
  return (
    <FormDialog
      title="Forget your voice?"
      submit={`Forget it in “${workspace}”`}
      cancel="Keep it"
      isEnd
      onSubmit={forget}
      onClose={onClose}
    >
      <p>What was suggested because of it is gone at once. What you have claimed stays yours.</p>
    </FormDialog>
  );
}

async function forgetIn(workspaceId: string): Promise<string> {
  const params = { query: { workspace_id: workspaceId } };
  const { message } = await call((api) => api.DELETE("/users/me/voice", { params }));
  return message;
}

/** One workspace whose print went because it could not be compared any more: asked once for another. */
export function LapsedRow({
  voice: { workspace_id: workspaceId, lapsed_at: at },
  workspace,
  onChanged,
}: RowProps<VoiceList["lapsed"][number]>): VNode {
  const [isGiving, setGiving] = useState(false);
  const { isBusy, error, run } = useDeed();
  const decline = () =>
    run(async () => {
      await forgetIn(workspaceId);
      showToast("Your voice stays forgotten there.");
      onChanged();
    });
  return (
    <RecordRow
      icon={<Fingerprint size={20} aria-hidden="true" />}
      title={workspace}
      chips={
        <span class="chip" data-tone="warn">
          not remembered any more
        </span>
      }
      facts={[`removed ${momentOf(at)}`]}
    >
      <p class="small">
        Voices are remembered in another way now, and the print that was there could not be
        compared: nothing is kept of it. Do you want to give a new one?
      </p>
      <Alert text={error} />
      <div class="row">
        <button type="button" class="button" onClick={() => setGiving(true)}>
          Give a new one
        </button>
        <button
          type="button"
          class="button quiet"
          aria-disabled={isBusy}
          onClick={() => void decline()}
        >
          No, leave it
        </button>
      </div>
      {isGiving && (
        <GiveVoiceDialog
          workspaceId={workspaceId}
          onGiven={onChanged}
          onClose={() => setGiving(false)}
        />
      )}
    </RecordRow>
  );
}
