import { Drama, Pencil, Share2, Square, Trash2, UsersRound } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { account } from "../../api/account.ts";
import { call, messageOf } from "../../api/client.ts";
import { ActionMenu } from "../../parts/action-menu.tsx";
import { Alert } from "../../parts/alert.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { showToast } from "../../parts/toasts.tsx";
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
    call((api) => api.POST("/sessions/{session_id}/stop", { params, body: {} })).then(
      () => showToast("The recording ends; the last words follow."),
      (error: unknown) => showToast(messageOf(error)),
    );
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
  const [error, setError] = useState("");
  const { title: before = "", tags = [] } = model.session.value ?? {};
  const save = async (title: string, given: string) => {
    try {
      model.session.value = await call((api) =>
        api.PATCH("/sessions/{session_id}", {
          params: { path: { session_id: model.id } },
          body: {
            title,
            tags: [...new Set(given.split(",").map((tag) => tag.trim()))].filter(Boolean),
          },
        }),
      );
      onClose();
    } catch (error) {
      setError(messageOf(error));
    }
  };
  return (
    <Dialog title="Rename the session" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          const fields = new FormData(event.currentTarget);
          void save(String(fields.get("title")).trim(), String(fields.get("tags")));
        }}
      >
        <label class="field">
          <span>Title</span>
          <input class="input" name="title" required maxLength={200} defaultValue={before} />
        </label>
        <label class="field">
          <span>Tags, with commas between them</span>
          <input
            class="input"
            name="tags"
            placeholder="board, hiring"
            defaultValue={tags.join(", ")}
          />
        </label>
        <Alert text={error} />
        <div>
          <button type="submit" class="button primary">
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function DeleteDialog({
  model,
  onClose,
  onDeleted,
}: DialogProps & { onDeleted: () => void }): VNode {
  const [isBusy, setBusy] = useState(false);
  const remove = async () => {
    setBusy(true);
    try {
      await call((api) =>
        api.DELETE("/sessions/{session_id}", { params: { path: { session_id: model.id } } }),
      );
      showToast("The session is deleted, for good.");
      onDeleted();
    } catch (error) {
      showToast(messageOf(error));
      setBusy(false);
    }
  };
  return (
    <Dialog title="Delete the session for good?" onClose={onClose}>
      <p>
        Words, sound, summaries and everything made from them go, for everybody. It cannot be taken
        back.
      </p>
      <div class="row">
        <button type="button" class="button danger" disabled={isBusy} onClick={() => void remove()}>
          Delete “{model.session.value?.title || "Untitled conversation"}”
        </button>
        <button type="button" class="button" onClick={onClose}>
          Keep it
        </button>
      </div>
    </Dialog>
  );
}
