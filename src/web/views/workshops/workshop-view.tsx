import { ArrowLeft, Pencil, Trash2 } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";
import { call } from "../../api/client.ts";
import type { Workshop } from "../../api/records.ts";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { useResource } from "../../parts/resource.ts";
import { Awaited } from "../../parts/states.tsx";
import { showToast } from "../../parts/toasts.tsx";
import { ViewFrame } from "../../parts/view.tsx";
import { Characters } from "./characters.tsx";
import { NameFields, namesOf } from "./name-fields.tsx";

/** One workshop with its characters. */
export function View({ params }: { params: { id?: string } }): VNode {
  const { id = "" } = params;
  const path = { workshop_id: id };
  const { state, reload, set } = useResource(
    () => call((api) => api.GET("/workshops/{workshop_id}", { params: { path } })),
    [id],
  );
  const workshop = state.kind === "ready" ? state.value : undefined;
  return (
    <>
      <p class="back">
        <Link href="/workshops">
          <ArrowLeft size={15} aria-hidden="true" /> All workshops
        </Link>
      </p>
      <ViewFrame
        title={workshop?.name ?? "Workshop"}
        head={workshop && <Actions workshop={workshop} onChanged={set} />}
      >
        <Awaited of={{ state, reload }} what="the workshop" />
        {workshop && (
          <div class="stack">
            {workshop.description !== "" && <p class="lead">{workshop.description}</p>}
            <Characters key={workshop.id} workshopId={workshop.id} />
          </div>
        )}
      </ViewFrame>
    </>
  );
}

interface ActionsProps {
  workshop: Workshop;
  onChanged: (workshop: Workshop) => void;
}

function Actions({ workshop, onChanged }: ActionsProps): VNode {
  const [opened, open] = useState<"edit" | "remove" | undefined>();
  const [, navigate] = useLocation();
  const params = { path: { workshop_id: workshop.id } };
  const close = () => open(undefined);
  const save = async (fields: FormData) => {
    const body = namesOf(fields);
    onChanged(await call((api) => api.PATCH("/workshops/{workshop_id}", { params, body })));
  };
  const remove = async () => {
    const { message } = await call((api) => api.DELETE("/workshops/{workshop_id}", { params }));
    showToast(message);
    navigate("/workshops");
  };
  return (
    <div class="row push">
      <button type="button" class="button" onClick={() => open("edit")}>
        <Pencil size={16} aria-hidden="true" /> Change
      </button>
      <button type="button" class="button" onClick={() => open("remove")}>
        <Trash2 size={16} aria-hidden="true" /> Remove
      </button>
      {opened === "edit" && (
        <FormDialog title="Change the workshop" submit="Save" onSubmit={save} onClose={close}>
          <NameFields named={workshop} />
        </FormDialog>
      )}
      {opened === "remove" && (
        <FormDialog
          title="Remove the workshop?"
          submit={`Remove “${workshop.name}”`}
          cancel="Keep it"
          isEnd
          onSubmit={remove}
          onClose={close}
        >
          <p>Its characters go with it. Sessions that belong to it stay, without it.</p>
        </FormDialog>
      )}
    </div>
  );
}
