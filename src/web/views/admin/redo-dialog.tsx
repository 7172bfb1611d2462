import type { VNode } from "preact";
import { call } from "../../api/client.ts";
import { TextField } from "../../parts/fields.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { useResource } from "../../parts/resource.ts";
import { showToast } from "../../parts/toasts.tsx";
import { linesOf } from "./fields.ts";

interface RedoProps {
  jobId: string;
  onClose: () => void;
  onQueued: () => void;
}

/** Has a session's sound recognised once more. */
export function RedoDialog({ jobId, onClose, onQueued }: RedoProps): VNode {
  const { state } = useResource(() => call((api) => api.GET("/engines")), []);
  const engines = state.kind === "ready" ? state.value.items : [];
  const redo = async (fields: FormData) => {
    const engine = String(fields.get("engine"));
    const language = String(fields.get("language")).trim();
    const vocabulary = linesOf(String(fields.get("vocabulary")));
    const answer = await call((api) =>
      api.POST("/admin/jobs/transcriptions/{job_id}/redo", {
        params: { path: { job_id: jobId } },
        body: {
          review: fields.get("review") !== null,
          ...(engine === "" ? {} : { engine }),
          ...(language === "" ? {} : { forced_language: language }),
          ...(vocabulary.length === 0 ? {} : { vocabulary }),
        },
      }),
    );
    showToast(answer.message);
    onQueued();
  };
  return (
    <FormDialog title="Recognise once more" submit="Redo" onClose={onClose} onSubmit={redo}>
      <p class="soft">
        The text that stands stays until the new one takes its place in one step. Claims are kept;
        corrections of people are not.
      </p>
      <label class="field">
        <span>Speech engine</span>
        <select class="input" name="engine">
          <option value="">As the workspace chooses</option>
          {engines.map(({ name, local, languages }) => (
            <option key={name} value={name}>
              {`${name} (${languages.join(", ")}${local ? "" : "; the sound leaves this installation"})`}
            </option>
          ))}
        </select>
      </label>
      <TextField
        label="Language, such as en or de-DE; empty for that of the session"
        name="language"
        maxLength={35}
        autocomplete="off"
      />
      <label class="field">
        <span>Words to expect, one a line; empty for those of the session</span>
        <textarea class="input" name="vocabulary" />
      </label>
      <label class="check">
        <input type="checkbox" name="review" /> Let the owner compare and accept it first
      </label>
    </FormDialog>
  );
}
