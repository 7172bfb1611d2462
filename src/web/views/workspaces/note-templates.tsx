import { ListChecks, Pencil, RotateCcw } from "lucide-preact";
import type { VNode } from "preact";
import { useId, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { NoteTemplate, Workspace } from "../../api/records.ts";
import { Alert } from "../../parts/alert.tsx";
import { useDeed } from "../../parts/deed.ts";
import { Choice } from "../../parts/fields.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { RecordList, RecordRow } from "../../parts/record-row.tsx";
import { useResource } from "../../parts/resource.ts";
import { Awaited } from "../../parts/states.tsx";
import { showToast } from "../../parts/toasts.tsx";
import { TemplateForm } from "./template-form.tsx";

interface TemplatesProps {
  workspace: Workspace;
  /** May be seen by all, changed by owners and administrators. */
  mayChange: boolean;
  onChanged: (workspace: Workspace) => void;
}

/** How the notes of a workspace's sessions are arranged, and by which template where they name none. */
export function NoteTemplates({ workspace, mayChange, onChanged }: TemplatesProps): VNode {
  const { id } = workspace;
  const { state, reload } = useResource(
    () => call((api) => api.GET("/workspaces/{id}/note-templates", { params: { path: { id } } })),
    [id],
  );
  return (
    <section class="stack" aria-labelledby="note-templates">
      <h2 id="note-templates">Templates of notes</h2>
      <p class="soft small">
        What the notes of a session have, and in which order. Each session may have its own; the
        others have the usual one.
      </p>
      <Awaited of={{ state, reload }} what="templates" lines={5} />
      {state.kind === "ready" && (
        <>
          {mayChange && <Usual workspace={workspace} of={state.value.items} {...{ onChanged }} />}
          <RecordList label="Templates of notes">
            {state.value.items.map((each) => (
              <TemplateRow
                key={each.id}
                workspaceId={id}
                template={each}
                isUsual={each.id === workspace.notes_template}
                mayChange={mayChange}
                onChanged={reload}
              />
            ))}
          </RecordList>
        </>
      )}
    </section>
  );
}

interface UsualProps {
  workspace: Workspace;
  of: readonly NoteTemplate[];
  onChanged: (workspace: Workspace) => void;
}

function Usual({ workspace, of, onChanged }: UsualProps): VNode {
  const { isBusy, error, run } = useDeed();
  const fieldId = useId();
  const params = { path: { id: workspace.id } };
  const choose = async (chosen: Workspace["notes_template"]) => {
    const body = { notes_template: chosen };
    onChanged(await call((api) => api.PATCH("/workspaces/{id}", { params, body })));
    showToast("Changed for sessions that name no template themselves.");
  };
  return (
    <>
      <label class="field workspaces-usual" for={fieldId}>
        <span>The usual one</span>
        <Choice
          id={fieldId}
          value={workspace.notes_template}
          aria-disabled={isBusy}
          of={of.map(({ id, title }) => ({ id, name: title }))}
          onChoose={(chosen) => void run(() => choose(chosen))}
        />
      </label>
      <Alert text={error} />
    </>
  );
}

interface RowProps {
  workspaceId: string;
  template: NoteTemplate;
  isUsual: boolean;
  mayChange: boolean;
  onChanged: () => void;
}

function TemplateRow({ workspaceId, template, isUsual, mayChange, onChanged }: RowProps): VNode {
  const [opened, open] = useState<"edit" | "reset" | undefined>();
  const { title, sections, is_changed: isChanged } = template;
  const close = () => open(undefined);
  const path = { id: workspaceId, template: template.id };
  const reset = async () => {
    await call((api) =>
      api.DELETE("/workspaces/{id}/note-templates/{template}", { params: { path } }),
    );
    onChanged();
  };
  return (
    <RecordRow
      icon={<ListChecks size={18} aria-hidden="true" />}
      title={title}
      chips={
        <>
          {isUsual && <span class="chip">usual</span>}
          {isChanged && <span class="chip">changed</span>}
        </>
      }
      facts={sections.map((section) => section.title)}
      actions={
        mayChange && (
          <>
            <button
              type="button"
              class="button quiet icon"
              aria-label={`Change ${title}`}
              onClick={() => open("edit")}
            >
              <Pencil size={16} aria-hidden="true" />
            </button>
            {isChanged && (
              <button
                type="button"
                class="button quiet icon"
                aria-label={`Take back the changes of ${title}`}
                onClick={() => open("reset")}
              >
                <RotateCcw size={16} aria-hidden="true" />
              </button>
            )}
          </>
        )
      }
    >
      {opened === "edit" && (
        <TemplateForm path={path} title={title} onChanged={onChanged} onClose={close} />
      )}
      {opened === "reset" && (
        <FormDialog
          title="Take the changes back?"
          submit="Take them back"
          cancel="Keep them"
          isEnd
          onSubmit={reset}
          onClose={close}
        >
          <p>“{title}” is then as the service brings it.</p>
        </FormDialog>
      )}
    </RecordRow>
  );
}
