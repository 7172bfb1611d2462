import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { SessionModel } from "./model/session-model.ts";

/**
 * Final sentences for screen readers, apart from the text that is read with the eyes: said when the
 * person has time to listen, and only while it is wanted.
 */
export function SpokenLog({ model }: { model: SessionModel }): VNode {
  const [isOn, setOn] = useState(true);
  return (
    <div class="hidden-text">
      <button type="button" aria-pressed={isOn} onClick={() => setOn(!isOn)}>
        Announce new sentences
      </button>
      <div role="log" aria-live="polite" aria-label="New sentences">
        {isOn &&
          model.spoken.value.map(({ id, speaker, text }) => (
            <p key={id}>{`${model.nameOf(speaker)}: ${text}`}</p>
          ))}
      </div>
    </div>
  );
}
