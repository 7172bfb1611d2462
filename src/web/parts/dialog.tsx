import { X } from "lucide-preact";
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

interface DialogProps {
  title: string;
  /** Called by the cross, Escape and a press beside it; without it the dialog must be answered. */
  onClose?: (() => void) | undefined;
  children: ComponentChildren;
}

/** A modal dialog: keeps the focus inside, and gives it back when it goes. */
export function Dialog({ title, onClose, children }: DialogProps): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
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
    >
      <div class="stack">
        <div class="row">
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
    </dialog>
  );
}
