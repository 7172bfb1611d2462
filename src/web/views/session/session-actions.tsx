import { Drama, Pencil, Share2, Square, Trash2, UsersRound } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { account } from "../../api/account.ts";
import { call } from "../../api/client.ts";
import { ActionMenu } from "../../parts/action-menu.tsx";
import { TextField } from "../../parts/fields.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { attempt, showToast } from "../../parts/toasts.tsx";
import { WorkshopDialog } from "../../parts/workshop-dialog.tsx";
import { ShareDialog } from "../sharing/share-dialog.tsx";
import type { SessionModel } from "./model/session-model.ts";

interface ActionsProps {
  model: SessionModel;
  onDeleted: () => void;
}

const CHOICES = [
  { what: "rename", label: "Rename", Icon: Pencil },
  { what: "workshop", label: "Workshop", Icon: Drama },
  { what: "delete", label: "Delete", Icon: Trash2 },
] as const;

/** What its owner can do with a session: share, stop, rename, delete; others see who is in it. */
export function SessionActions({ model, onDeleted }: ActionsProps): VNode | null {
  const [open, setOpen] = useState<"share" | "rename" | "workshop" | "delete" | undefined>();
  if (!model.isOwner) return <People model={model} />;
  const params = { path: { session_id: model.id } };
  const stop = () =>
    attempt(async () => {
      await call((api) => api.POST("/sessions/{session_id}/stop", { params, body: {} }));
      showToast("The recording ends; the last words follow.");
    });
  return (
    <>
      {model.isLive && (
        <button type="button" class="button danger" onClick={() => void stop()}>
          <Square size={15} aria-hidden="true" /> <span>Stop</span>
        </button>
      )}
      <button type="button" class="button" onClick={() => setOpen("share")}>
        <Share2 size={16} aria-hidden="true" /> <span>Share</span>
      </button>
      <ActionMenu label="More" class="button icon" choices={CHOICES} onChoose={setOpen} />
      {open === "share" && <ShareDialog model={model} onClose={() => setOpen(undefined)} />}
      {open === "rename" && <RenameDialog model={model} onClose={() => setOpen(undefined)} />}
      {open === "workshop" && model.session.value && (
        <WorkshopDialog
          session={model.session.value}
          onChanged={(session) => {
            model.session.value = session;
          }}
          onClose={() => setOpen(undefined)}
        />
      )}
      {open === "delete" && (
        <DeleteDialog model={model} onClose={() => setOpen(undefined)} onDeleted={onDeleted} />
      )}
    </>
  );
}

/** For those with an account: guests are not told of each other. */
function People({ model }: { model: SessionModel }): VNode | null {
  const [isOpen, setOpen] = useState(false);
  if (account.value?.kind !== "user" || model.session.value === undefined) return null;
  return (
    <>
      <button type="button" class="button" onClick={() => setOpen(true)}>
        <UsersRound size={16} aria-hidden="true" /> People
      </button>
      {isOpen && <ShareDialog model={model} onClose={() => setOpen(false)} />}
    </>
  );
}

interface DialogProps {
  model: SessionModel;
  onClose: () => void;
}

function RenameDialog({ model, onClose }: DialogProps): VNode {
  const { title: before = "", tags = [] } = model.session.value ?? {};
  const save = async (fields: FormData) => {
    const given = String(fields.get("tags")).split(",");
    const body = {
      title: String(fields.get("title")).trim(),
      tags: [...new Set(given.map((tag) => tag.trim()))].filter(Boolean),
    };
    const params = { path: { session_id: model.id } };
    model.session.value = await call((api) =>
      api.PATCH("/sessions/{session_id}", { params, body }),
    );
  };
  return (
    <FormDialog title="Rename the session" submit="Save" onSubmit={save} onClose={onClose}>
      <TextField label="Title" name="title" required maxLength={200} defaultValue={before} />
      <TextField
        label="Tags, with commas between them"
        name="tags"
        placeholder="board, hiring"
        defaultValue={tags.join(", ")}
      />
    </FormDialog>
  );
}

function DeleteDialog({
  model,
  onClose,
  onDeleted,
}: DialogProps & { onDeleted: () => void }): VNode {
  const remove = async () => {
    const params = { path: { session_id: model.id } };
    await call((api) => api.DELETE("/sessions/{session_id}", { params }));
    showToast("The session is deleted, for good.");
    onDeleted();
  };
  return (
    <FormDialog
      title="Delete the session for good?"
      submit={`Delete “${model.session.value?.title || "Untitled conversation"}”`}
      cancel="Keep it"
      isEnd
      onSubmit={remove}
      onClose={onClose}
    >
      <p>
        Words, sound, summaries and everything made from them go, for everybody. It cannot be taken
        back.
      </p>
    </FormDialog>
  );
}
