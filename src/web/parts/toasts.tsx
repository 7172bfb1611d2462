import { signal } from "@preact/signals";
import { X } from "lucide-preact";
import type { VNode } from "preact";

interface Toast {
  readonly id: number;
  readonly text: string;
}

const SHOWN_MS = 8_000;
const toasts = signal<readonly Toast[]>([]);
let last = 0;

/** Tells something that needs no answer, for some seconds. */
export function tell(text: string): void {
  last += 1;
  const id = last;
  toasts.value = [...toasts.value.slice(-2), { id, text }];
  setTimeout(() => forget(id), SHOWN_MS);
}

function forget(id: number): void {
  toasts.value = toasts.value.filter((each) => each.id !== id);
}

export function Toasts(): VNode {
  return (
    <div class="toasts" role="status">
      {toasts.value.map(({ id, text }) => (
        <div key={id}>
          <span>{text}</span>
          <button type="button" aria-label="Dismiss" onClick={() => forget(id)}>
            <X size={16} aria-hidden="true" />
          </button>
        </div>
      ))}
    </div>
  );
}
