import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { Options } from "../../parts/choice.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { ShownOnce } from "../../parts/shown-once.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { useOwnWorkspaces, WorkspaceField } from "../../parts/workspaces.tsx";
import { inDays, LIFETIMES, SCOPE_NAMES, SCOPES, type Scope } from "./key-facts.ts";

interface NewKeyProps {
  /** The workspace that the list shows, or "". */
  chosen: string;
  onMade: () => void;
  onClose: () => void;
}

/** Makes a key, and shows it. */
export function NewKeyDialog({ chosen, onMade, onClose }: NewKeyProps): VNode {
  const [made, setMade] = useState<{ name: string; key: string } | undefined>();
  const { state, reload } = useOwnWorkspaces();
  if (made !== undefined) {
    return (
      <Dialog title="Your new key">
        <ShownOnce label={`Key “${made.name}”`} value={made.key} />
        <p class="small soft">
          Sent as the header <code>X-API-Key</code>. Keep it as you keep a password.
        </p>
        <div>
          <button type="button" class="button" onClick={onClose}>
            Done
          </button>
        </div>
      </Dialog>
    );
  }
  if (state.kind !== "ready") {
    return (
      <Dialog title="New key" onClose={onClose}>
        {state.kind === "loading" && <Loading what="your workspaces" lines={3} />}
        {state.kind === "failed" && <Failure error={state.error} retry={reload} />}
      </Dialog>
    );
  }
  const make = async (fields: FormData) => {
    const scopes = fields.getAll("scope").map((each) => String(each) as Scope);
    if (scopes.length === 0) throw new Error("Choose what the key may do.");
    const body = {
      workspace_id: String(fields.get("workspace")),
      name: String(fields.get("name")).trim(),
      scopes,
      expires_at: inDays(Number(fields.get("days"))),
    };
    setMade(await call((api) => api.POST("/api-keys", { body })));
    onMade();
  };
  return (
    <FormDialog title="New key" submit="Make the key" stays onSubmit={make} onClose={onClose}>
      <label class="field">
        <span>What is it for?</span>
        <input
          class="input"
          name="name"
          required
          pattern=".*\S.*"
          maxLength={200}
          placeholder="Archive export"
        />
      </label>
      <WorkspaceField workspaces={state.value} chosen={chosen} />
      <fieldset class="choices">
        <legend>What may it do?</legend>
        {SCOPE_NAMES.map((scope) => (
          <label key={scope} class="check">
            <input type="checkbox" name="scope" value={scope} />
            <span>
              {SCOPES[scope]}
              <br />
              <code class="soft">{scope}</code>
            </span>
          </label>
        ))}
      </fieldset>
      <label class="field">
        <span>It ends after</span>
        <select class="input" name="days" defaultValue="365">
          <Options of={LIFETIMES} chosen={365} />
        </select>
      </label>
    </FormDialog>
  );
}
