import type { VNode } from "preact";
import type { Workspace } from "../../api/records.ts";
import { Alert } from "../../parts/alert.tsx";
import { useDeed } from "../../parts/deed.ts";
import { NameField } from "../../parts/fields.tsx";
import { WorkspaceField } from "../../parts/workspaces.tsx";

interface NewProgram {
  readonly workspace_id: string;
  readonly name: string;
}

interface ProgramFormProps {
  workspaces: readonly Workspace[];
  onMake: (program: NewProgram) => Promise<void>;
}

/** Makes a virtual device: a program that has no code to show. */
export function ProgramForm({ workspaces, onMake }: ProgramFormProps): VNode {
  const { isBusy, error, run } = useDeed();
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        const fields = new FormData(event.currentTarget);
        const name = String(fields.get("name")).trim();
        void run(() => onMake({ workspace_id: String(fields.get("workspace")), name }));
      }}
    >
      <p class="soft">
        For your own software, or a device that can show nothing. It gets an id and a key, and
        records as a device does.
      </p>
      <NameField />
      <WorkspaceField workspaces={workspaces} />
      <Alert text={error} />
      <div>
        <button type="submit" class="button primary" aria-disabled={isBusy}>
          Make its key
        </button>
      </div>
    </form>
  );
}
