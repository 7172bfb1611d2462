import type { VNode } from "preact";
import { Link } from "wouter-preact";
import { call } from "../../api/client.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { useResource } from "../../parts/resource.ts";
import { Empty, Failure, Loading } from "../../parts/states.tsx";
import { tell } from "../../parts/toasts.tsx";
import type { SessionModel } from "./session-model.ts";

interface WorkshopDialogProps {
  model: SessionModel;
  onClose: () => void;
}

/** Says what the session is about: its workshop's characters are offered for its voices. */
export function WorkshopDialog({ model, onClose }: WorkshopDialogProps): VNode {
  const session = model.session.value;
  const workspaceId = session?.workspace_id ?? "";
  const { state, reload } = useResource(() => {
    const query = { workspace_id: workspaceId, limit: 100 };
    return call((api) => api.GET("/workshops", { params: { query } }));
  }, [workspaceId]);
  if (state.kind !== "ready" || state.value.items.length === 0) {
    return (
      <Dialog title="Workshop of the session" onClose={onClose}>
        {state.kind === "loading" && <Loading what="workshops" lines={3} />}
        {state.kind === "failed" && <Failure error={state.error} retry={reload} />}
        {state.kind === "ready" && (
          <Empty title="No workshop yet">
            <p>A workshop has characters, whose names are expected in its sessions.</p>
            <Link class="button" href="/workshops">
              To the workshops
            </Link>
          </Empty>
        )}
      </Dialog>
    );
  }
  const save = async (fields: FormData) => {
    const chosen = String(fields.get("workshop"));
    const params = { path: { session_id: model.id } };
    const body = { workshop_id: chosen === "" ? null : chosen };
    model.session.value = await call((api) =>
      api.PATCH("/sessions/{session_id}", { params, body }),
    );
    tell(chosen === "" ? "The session has no workshop now." : "The session has its workshop.");
  };
  return (
    <FormDialog title="Workshop of the session" submit="Save" onSubmit={save} onClose={onClose}>
      <label class="field">
        <span>Its characters are offered for the voices</span>
        <select class="input" name="workshop">
          <option value="">none</option>
          {state.value.items.map(({ id, name }) => (
            <option key={id} value={id} selected={id === session?.workshop_id}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </FormDialog>
  );
}
