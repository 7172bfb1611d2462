import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import { Dialog } from "./dialog.tsx";
import { FormDialog, type FormDialogProps } from "./form-dialog.tsx";

interface SecretDialogProps<T> extends Pick<FormDialogProps, "title" | "submit" | "onClose"> {
  /** The title once it is made. */
  made: string;
  make: (fields: FormData) => Promise<T>;
  /** What is seen of it, this once. */
  show: (made: T) => ComponentChildren;
  /** A way on, beside the button that shuts the dialog. */
  next?: (made: T) => VNode;
  children: ComponentChildren;
}

/** Has a secret made, and shows it until somebody says that they have it. */
export function SecretDialog<T>(props: SecretDialogProps<T>): VNode {
  const { made: titleOnceMade, make, show, next, children, ...form } = props;
  const [made, setMade] = useState<{ readonly secret: T } | undefined>();
  if (made === undefined) {
    return (
      <FormDialog
        {...form}
        stays
        onSubmit={async (fields) => setMade({ secret: await make(fields) })}
      >
        {children}
      </FormDialog>
    );
  }
  return (
    <Dialog title={titleOnceMade}>
      {show(made.secret)}
      <div class="row">
        {next?.(made.secret)}
        <button type="button" class="button" onClick={form.onClose}>
          Done
        </button>
      </div>
    </Dialog>
  );
}
