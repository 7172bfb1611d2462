import { Replace } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { LineEditing } from "../model/line-editing.ts";
import "./edit.css";

/** Offers to put right everywhere what was put right in one line. */
export function CorrectAll({ editing }: { editing: LineEditing }): VNode | null {
  const [done, setDone] = useState<number | undefined>();
  const offer = editing.offer.value;
  if (offer === undefined) return null;
  const { correction, lineIds } = offer;
  const lines = lineIds.length === 1 ? "1 other line" : `${lineIds.length} other lines`;
  const carryOut = async () => {
    setDone(0);
    await editing.correctEverywhere(offer, setDone);
    setDone(undefined);
  };
  return (
    <div class="correct-all" role="status">
      <p>
        {`\u201c${correction.from}\u201d stands in ${lines}. Correct it to \u201c${correction.to}\u201d there, too?`}
      </p>
      <div class="row">
        <button
          type="button"
          class="button primary"
          disabled={done !== undefined}
          onClick={() => void carryOut()}
        >
          <Replace size={16} aria-hidden="true" />
          {done === undefined ? `Correct in ${lines}` : `${done} of ${lineIds.length} \u2026`}
        </button>
        <button
          type="button"
          class="button"
          disabled={done !== undefined}
          onClick={() => {
            editing.offer.value = undefined;
          }}
        >
          Leave them
        </button>
      </div>
    </div>
  );
}
