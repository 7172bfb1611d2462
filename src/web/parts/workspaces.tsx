import type { VNode } from "preact";
import { call } from "../api/client.ts";
import type { Workspace } from "../api/records.ts";
import { Choice, Options } from "./fields.tsx";
import { ownWorkspaces } from "./own-workspaces.ts";
import { useResource } from "./resource.ts";

/** The workspaces that the person belongs to. */
export function useWorkspaces() {
  return useResource(async () => {
    const query = { limit: 100 };
    const { items } = await call((api) => api.GET("/workspaces", { params: { query } }));
    return items;
  }, []);
}

/** The same for where something is made in one of them: who has none gets one. */
export function useOwnWorkspaces() {
  return useResource(ownWorkspaces, []);
}

interface WorkspaceFieldProps {
  workspaces: readonly Workspace[];
  /** The one that is chosen first. */
  chosen?: string | undefined;
}

/** The field `workspace` of a form. */
export function WorkspaceField({ workspaces, chosen }: WorkspaceFieldProps): VNode {
  return (
    <label class="field">
      <span>Workspace</span>
      <select class="input" name="workspace" required>
        <Options of={workspaces} chosen={chosen} />
      </select>
    </label>
  );
}

interface WorkspaceFilterProps {
  workspaces: readonly Workspace[];
  /** "" for all of them. */
  chosen: string;
  onChoose: (id: string) => void;
}

/** Narrows a list to one workspace; nothing for somebody who has a single one. */
export function WorkspaceFilter(props: WorkspaceFilterProps): VNode | null {
  const { workspaces, chosen, onChoose } = props;
  if (workspaces.length < 2) return null;
  return (
    <Choice
      class="input filter"
      aria-label="Workspace"
      value={chosen}
      of={[{ id: "", name: "All workspaces" }, ...workspaces]}
      onChoose={onChoose}
    />
  );
}
