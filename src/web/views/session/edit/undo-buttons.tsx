import { Redo2, Undo2 } from "lucide-preact";
import type { VNode } from "preact";
import type { LineEditing } from "../model/line-editing.ts";

/** Take the last correction back, or do it again; there once something was corrected. */
export function UndoButtons({ editing }: { editing: LineEditing }): VNode | null {
  const { canUndo, canRedo } = editing.history;
  if (!canUndo.value && !canRedo.value) return null;
  return (
    <>
      <button
        type="button"
        class="button icon"
        aria-label="Undo the correction"
        disabled={!canUndo.value}
        onClick={() => void editing.undo()}
      >
        <Undo2 size={16} aria-hidden="true" />
      </button>
      <button
        type="button"
        class="button icon"
        aria-label="Redo the correction"
        disabled={!canRedo.value}
        onClick={() => void editing.redo()}
      >
        <Redo2 size={16} aria-hidden="true" />
      </button>
    </>
  );
}
