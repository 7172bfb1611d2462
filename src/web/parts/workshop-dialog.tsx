import type { VNode } from "preact";
import { Link } from "wouter-preact";
import { call } from "../api/client.ts";
import type { Session } from "../api/records.ts";
import { Dialog } from "./dialog.tsx";
import { FormDialog } from "./form-dialog.tsx";
import { useResource } from "./resource.ts";
import { Empty, Failure, Loading } from "./states.tsx";
import { showToast } from "./toasts.tsx";

interface WorkshopDialogProps {
  session: Session;
  onChanged: (session: Session) => void;
  onClose: () => void;
}

/** Says what the session is about: its workshop's characters are offered for its voices. */
export function WorkshopDialog({ session, onChanged, onClose }: WorkshopDialogProps): VNode {
  const { workspace_id: workspaceId } = session;
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
          <Empty
            title="No workshop yet"
            next={
              <Link class="button" href="/workshops">
                To the workshops
              </Link>
            }
          >
            <p>A workshop has characters, whose names are expected in its sessions.</p>
          </Empty>
        )}
      </Dialog>
    );
  }
  const save = async (fields: FormData) => {
    const chosen = String(fields.get("workshop"));
    const params = { path: { session_id: session.id } };
    const body = { workshop_id: chosen === "" ? null : chosen };
    onChanged(await call((api) => api.PATCH("/sessions/{session_id}", { params, body })));
    showToast(chosen === "" ? "The session has no workshop now." : "The session has its workshop.");
  };
  return (
    <FormDialog title="Workshop of the session" submit="Save" onSubmit={save} onClose={onClose}>
      <label class="field">
        <span>Its characters are offered for the voices</span>
        <select class="input" name="workshop">
          <option value="">none</option>
          {state.value.items.map(({ id, name }) => (
            <option key={id} value={id} selected={id === session.workshop_id}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </FormDialog>
  );
}
