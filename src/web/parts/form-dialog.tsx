import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Alert } from "./alert.tsx";
import { useDeed } from "./deed.ts";
import { Dialog } from "./dialog.tsx";

export interface FormDialogProps {
  title: string;
  /** What the button says that does it. */
  submit: string;
  /** What the button says that leaves everything as it is. */
  cancel?: string;
  /** For what cannot be taken back: `onSubmit` makes an end of what the dialog was opened from. */
  isEnd?: boolean;
  /** True when something else takes the dialog's place once it is through. */
  stays?: boolean;
  /** Shuts the dialog when it resolves; what it throws is told in the dialog, which stays. */
  onSubmit: (fields: FormData) => Promise<void>;
  onClose: () => void;
  children: ComponentChildren;
}

/** A question with its answer: the fields of a form, or yes and no. */
export function FormDialog(props: FormDialogProps): VNode {
  const { title, submit, cancel = "Cancel", isEnd = false, stays = false } = props;
  const { onSubmit, onClose, children } = props;
  const form = useRef<HTMLFormElement>(null);
  const { isBusy, error, run } = useDeed();
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    form.current?.querySelector<HTMLElement>("input, select, textarea")?.focus();
  }, []);
  useEffect(() => {
    if (isDone) onClose();
  }, [isDone]);
  return (
    <Dialog title={title} onClose={onClose} leavesForHeading={isEnd && isDone}>
      <form
        ref={form}
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          const fields = new FormData(event.currentTarget);
          void run(async () => {
            await onSubmit(fields);
            if (!stays) setDone(true);
          });
        }}
      >
        {children}
        <Alert text={error} />
        <div class="row">
          <button
            type="submit"
            class={isEnd ? "button danger" : "button primary"}
            aria-disabled={isBusy}
          >
            {submit}
          </button>
          <button type="button" class="button" onClick={onClose}>
            {cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
