import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { ElevationForm } from "../../parts/elevation-form.tsx";
import { Choice } from "../../parts/fields.tsx";
import { useResource } from "../../parts/resource.ts";
import { showToast } from "../../parts/toasts.tsx";

/** Opens the content of a workspace, or of all, for a while and with a reason. */
export function OpenContent({ onClose }: { onClose: () => void }): VNode {
  const [workspaceId, choose] = useState("");
  const workspaces = useWorkspaces();
  return (
    <Dialog title="Open content" onClose={onClose}>
      <p class="soft">
        Words and sound of others are hidden from you. The reason and every read stand in the audit
        log. The bar at the top shows for how long they are open, and ends it.
      </p>
      <Choice
        label="Of"
        value={workspaceId}
        of={[{ id: "", name: "all sessions" }, ...workspaces]}
        onChoose={choose}
      />
      <ElevationForm
        place={workspaceId === "" ? {} : { workspace_id: workspaceId }}
        onOpen={() => {
          showToast("The content is open to you.");
          onClose();
        }}
      />
    </Dialog>
  );
}

/** The first hundred workspaces of the service; none while they are not there. */
export function useWorkspaces(): readonly { readonly id: string; readonly name: string }[] {
  const { state } = useResource(
    () =>
      call((api) => api.GET("/workspaces", { params: { query: { limit: 100, scope: "all" } } })),
    [],
  );
  return state.kind === "ready" ? state.value.items : [];
}
