import { Mic } from "lucide-preact";
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";
import { call } from "../../api/client.ts";
import type { Workspace } from "../../api/records.ts";
import { Alert } from "../../parts/alert.tsx";
import { chosenWorkspace, rememberWorkspace } from "../../parts/chosen-workspace.ts";
import { Choice, Options, TextField } from "../../parts/fields.tsx";
import { useResource } from "../../parts/resource.ts";
import { Awaited } from "../../parts/states.tsx";
import { ViewFrame } from "../../parts/view.tsx";
import { useOwnWorkspaces } from "../../parts/workspaces.tsx";
import { LanguageField, useSpokenLanguage } from "../../uploads/language-field.tsx";
import { Cockpit } from "./cockpit.tsx";
import { chooseMicrophone } from "./microphone-choice.ts";
import { MicrophoneField } from "./microphone-field.tsx";
import { recorder, startRecording } from "./recorder.ts";
import "./record.css";

/** Records a session with this browser's microphone. */
export function View(): VNode {
  const { state, reload } = useOwnWorkspaces();
  const now = recorder.value;
  const [, navigate] = useLocation();
  const before = useRef(now.kind);
  useEffect(() => {
    // Whoever finished a recording here wants to see what became of it.
    const hasEnded = before.current === "finishing" || before.current === "recording";
    before.current = now.kind;
    if (now.kind === "idle" && now.ended !== undefined && hasEnded) {
      navigate(`/sessions/${now.ended}`);
    }
  }, [now]);
  return (
    <ViewFrame title="Record from this browser">
      <Awaited of={{ state, reload }} what="your workspaces" lines={3} />
      {state.kind === "ready" && now.kind === "idle" && (
        <StartForm workspaces={state.value} error={now.error} />
      )}
      {now.kind === "starting" && (
        <p class="card" role="status">
          Opening the microphone. The browser may ask you whether it should.
        </p>
      )}
      {now.kind === "recording" && <Cockpit sessionId={now.sessionId} />}
      {now.kind === "finishing" && (
        <div class="card stack">
          <p role="status">Sending what is not stored yet. Keep this page open for the moment.</p>
          <div>
            <Link class="button" href={`/sessions/${now.sessionId}`}>
              Read the words
            </Link>
          </div>
        </div>
      )}
    </ViewFrame>
  );
}

interface StartProps {
  workspaces: readonly Workspace[];
  error: string;
}

function StartForm({ workspaces, error }: StartProps): VNode {
  const workspaceId = chosenWorkspace(workspaces);
  const spoken = useSpokenLanguage(workspaces.find(({ id }) => id === workspaceId));
  return (
    <form
      class="card stack record-form"
      onSubmit={(event) => {
        event.preventDefault();
        const fields = new FormData(event.currentTarget);
        const title = String(fields.get("title")).trim();
        const workshopId = String(fields.get("workshop") ?? "");
        void startRecording({ workspaceId, title, workshopId, language: spoken.language });
      }}
    >
      <TextField label="Title" name="title" maxLength={200} placeholder="What is it about?" />
      <Choice label="Workspace" value={workspaceId} of={workspaces} onChoose={rememberWorkspace} />
      <LanguageField isField spoken={spoken} />
      <MicrophoneField onChoose={chooseMicrophone} />
      <WorkshopField workspaceId={workspaceId} />
      <Alert text={error} />
      <div>
        <button type="submit" class="button primary">
          <Mic size={17} aria-hidden="true" /> Start recording
        </button>
      </div>
      <p class="soft small">
        Tell everybody in the room that you record. The session is yours; nobody else sees it until
        you share it.
      </p>
    </form>
  );
}

interface WorkshopFieldProps {
  workspaceId: string;
}

/** The field `workshop` of a form, of a workspace that has some; nothing else where it has none. */
function WorkshopField({ workspaceId }: WorkshopFieldProps): VNode | null {
  const { state } = useResource(() => {
    const query = { workspace_id: workspaceId, limit: 100 };
    return call((api) => api.GET("/workshops", { params: { query } }));
  }, [workspaceId]);
  // A recording needs no workshop: that none could be asked for holds nothing up.
  const found = state.kind === "ready" ? state.value.items : [];
  if (found.length === 0) return null;
  return (
    <label class="field">
      <span>Workshop, whose characters' names are expected</span>
      <select class="input" name="workshop">
        <Options of={[{ id: "", name: "none" }, ...found]} />
      </select>
    </label>
  );
}
