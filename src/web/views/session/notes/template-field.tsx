import type { VNode } from "preact";
import { useId, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { call } from "../../../api/client.ts";
import type { NoteTemplate } from "../../../api/records.ts";
import { Alert } from "../../../parts/alert.tsx";
import { useDeed } from "../../../parts/deed.ts";
import { Choice } from "../../../parts/fields.tsx";
import { useResource } from "../../../parts/resource.ts";
import type { SessionModel } from "../model/session-model.ts";

/** By which template the notes are arranged; nothing where the workspace's are not told. */
export function TemplateField({ model }: { model: SessionModel }): VNode | null {
  const { workspace_id: id = "" } = model.session.value ?? {};
  const { state } = useResource(
    () => call((api) => api.GET("/workspaces/{id}/note-templates", { params: { path: { id } } })),
    [id],
  );
  const fieldId = useId();
  const { isBusy, error, run } = useDeed();
  /** What was asked for, until the service has said so. */
  const [wanted, setWanted] = useState<NoteTemplate["id"] | undefined>();
  const { template } = model.notes.page.value ?? {};
  if (state.kind !== "ready" || template === undefined) return null;
  const choose = (chosen: NoteTemplate["id"]) =>
    run(async () => {
      setWanted(chosen);
      const params = { path: { session_id: model.id } };
      const body = { notes_template: chosen };
      try {
        model.session.value = await call((api) =>
          api.PATCH("/sessions/{session_id}", { params, body }),
        );
        await model.notes.rearrange();
      } finally {
        setWanted(undefined);
      }
    });
  return (
    <div class="field notes-template">
      <label for={fieldId}>Template</label>
      <div class="row">
        <Choice
          id={fieldId}
          value={wanted ?? template.id}
          aria-disabled={isBusy}
          of={state.value.items.map(({ id: each, title }) => ({ id: each, name: title }))}
          onChoose={(chosen) => void choose(chosen)}
        />
        <Link class="button quiet" href={`/workspaces/${id}`}>
          Change templates
        </Link>
      </div>
      <Alert text={error} />
    </div>
  );
}
