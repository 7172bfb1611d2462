import type { VNode } from "preact";
import type { Workspace } from "../../api/records.ts";
import { chosenWorkspace } from "../../parts/chosen-workspace.ts";

interface TargetProps {
  workspaces: readonly Workspace[];
  onChoose: (id: string) => void;
}

/** Into which workspace files go; nothing for somebody who has a single one. */
export function UploadTarget({ workspaces, onChoose }: TargetProps): VNode | null {
  if (workspaces.length < 2) return null;
  return (
    <select
      class="input filter"
      aria-label="Upload into the workspace"
      value={chosenWorkspace(workspaces)}
      onChange={({ currentTarget }) => onChoose(currentTarget.value)}
    >
      {workspaces.map(({ id, name }) => (
        <option key={id} value={id}>
          into {name}
        </option>
      ))}
    </select>
  );
}
