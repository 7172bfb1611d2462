import type { VNode } from "preact";
import { Dialog } from "./dialog.tsx";

/** Keys that do something, and what. */
export type KeyList = readonly (readonly [keys: readonly string[], what: string])[];

/** The list of a view's keys. */
export function KeysDialog({ keys, onClose }: { keys: KeyList; onClose: () => void }): VNode {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="keys">
        {keys.map(([names, what]) => (
          <div key={what}>
            <dt>
              {names.map((name) => (
                <kbd key={name}>{name}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

/** Whether the key belongs to where the focus is: a field, or what is pressed by keys itself. */
export function isTyping({ target, key, ctrlKey, metaKey }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest("input, textarea, select, dialog, .menu") !== null) return true;
  const isCommand = ctrlKey || metaKey;
  const isPressed = key === " " || key === "Enter" || key.startsWith("Arrow");
  return !isCommand && isPressed && target.closest("button, a, [role=slider]") !== null;
}
