import { X } from "lucide-preact";
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Toasts, toastsIn } from "./toasts.tsx";

interface DialogProps {
  title: string;
  /** Called by the cross and Escape; without it the dialog must be answered. */
  onClose?: (() => void) | undefined;
  /** True once what the dialog was opened from goes with it: then the view's heading has the focus. */
  leavesForHeading?: boolean | undefined;
  children: ComponentChildren;
}

/** A modal dialog: keeps the focus inside, and gives it back when it goes. */
export function Dialog({ title, onClose, leavesForHeading, children }: DialogProps): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const leaves = useRef(leavesForHeading);
  leaves.current = leavesForHeading;
  const id = useId();
  const [self] = useState(() => Symbol("dialog"));
  useEffect(() => toastsIn(self), [self]);
  useEffect(() => {
    const before = document.activeElement;
    const opened = dialog.current;
    opened?.showModal();
    return () => {
      // While it is open nothing else on the page takes the focus.
      opened?.close();
      if (leaves.current) focusHeading();
      else if (before instanceof HTMLElement) before.focus();
      // What it was opened from may have gone together with it.
      setTimeout(() => {
        if (document.activeElement === document.body) focusHeading();
      });
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
      onClose={() => {
        // Browsers shut a dialog for good when somebody insists. One that is gone has no element.
        if (dialog.current === null) return;
        if (onClose === undefined) dialog.current.showModal();
        else onClose();
      }}
    >
      <div class="stack">
        <div class="row dialog-head">
          <h2 id={id}>{title}</h2>
          {onClose && (
            <button
              type="button"
              class="button quiet icon push"
              aria-label="Close"
              onClick={onClose}
            >
              <X size={18} aria-hidden="true" />
            </button>
          )}
        </div>
        {children}
      </div>
      <Toasts within={self} />
    </dialog>
  );
}

function focusHeading(): void {
  document.querySelector<HTMLElement>("main h1")?.focus();
}
