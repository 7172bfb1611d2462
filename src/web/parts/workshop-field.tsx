import type { VNode } from "preact";
import { call } from "../api/client.ts";
import { useResource } from "./resource.ts";

interface WorkshopFieldProps {
  workspaceId: string;
}

/** The field `workshop` of a form, of a workspace that has some; nothing else where it has none. */
export function WorkshopField({ workspaceId }: WorkshopFieldProps): VNode | null {
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
        <option value="">none</option>
        {found.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
