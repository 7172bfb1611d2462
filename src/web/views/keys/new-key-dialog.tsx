import type { VNode } from "preact";
import { call } from "../../api/client.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { NameField, Options } from "../../parts/fields.tsx";
import { SecretDialog } from "../../parts/secret-dialog.tsx";
import { ShownOnce } from "../../parts/shown-once.tsx";
import { Awaited } from "../../parts/states.tsx";
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
  const { state, reload } = useOwnWorkspaces();
  if (state.kind !== "ready") {
    return (
      <Dialog title="New key" onClose={onClose}>
        <Awaited of={{ state, reload }} what="your workspaces" lines={3} />
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
    const made = await call((api) => api.POST("/api-keys", { body }));
    onMade();
    return made;
  };
  return (
    <SecretDialog
      title="New key"
      submit="Make the key"
      made="Your new key"
      make={make}
      show={({ name, key }) => (
        <>
          <ShownOnce label={`Key “${name}”`} value={key} />
          <p class="small soft">
            Sent as the header <code>X-API-Key</code>. Keep it as you keep a password.
          </p>
        </>
      )}
      onClose={onClose}
    >
      <NameField label="What is it for?" placeholder="Archive export" />
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
    </SecretDialog>
  );
}
