import { signal } from "@preact/signals";
import { X } from "lucide-preact";
import type { VNode } from "preact";
import { messageOf } from "../api/client.ts";

/** What one can do about what a toast tells. */
interface ToastAction {
  readonly label: string;
  readonly run: () => void;
}

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly action: ToastAction | undefined;
  readonly topic: string | undefined;
}

const SHOWN_MS = 8_000;
/** Longer, as it has to be reached. */
const SHOWN_WITH_ACTION_MS = 20_000;
const toasts = signal<readonly Toast[]>([]);
let last = 0;

/**
 * Tells something that needs no answer, for some seconds; `action` is a button beside it. It takes the
 * place of the one before it of the same `topic`.
 */
export function showToast(text: string, action?: ToastAction, topic?: string): void {
  last += 1;
  const id = last;
  // Only the newest deed can be taken back, so that an older button would do nothing.
  const older = toasts.value
    .filter((each) => action === undefined || each.action === undefined)
    .filter((each) => topic === undefined || each.topic !== topic);
  toasts.value = [...older.slice(-2), { id, text, action, topic }];
  setTimeout(() => forget(id), action === undefined ? SHOWN_MS : SHOWN_WITH_ACTION_MS);
}

/** Does it, and tells why when it fails. Never rejects. */
export async function attempt(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    showToast(messageOf(error));
  }
}

function forget(id: number): void {
  toasts.value = toasts.value.filter((each) => each.id !== id);
}

/** Dialogs that are open, the newest last: nothing outside of it is seen well, pressed or read out. */
const dialogs = signal<readonly symbol[]>([]);

/** Shows toasts inside the dialog while it is the newest; until what it returns is called. */
export function toastsIn(dialog: symbol): () => void {
  dialogs.value = [...dialogs.value, dialog];
  return () => {
    dialogs.value = dialogs.value.filter((each) => each !== dialog);
  };
}

/** What is told, where it can be seen: `within` a dialog, or on the page while none is open. */
export function Toasts({ within }: { within?: symbol | undefined }): VNode | null {
  if (dialogs.value.at(-1) !== within) return null;
  return (
    <div class="toasts" role="status">
      {toasts.value.map(({ id, text, action }) => (
        <div key={id}>
          <span>{text}</span>
          {action && (
            <button
              type="button"
              class="toast-action"
              onClick={() => {
                forget(id);
                action.run();
              }}
            >
              {action.label}
            </button>
          )}
          <button type="button" aria-label="Dismiss" onClick={() => forget(id)}>
            <X size={16} aria-hidden="true" />
          </button>
        </div>
      ))}
    </div>
  );
}
