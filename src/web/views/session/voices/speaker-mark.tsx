import type { VNode } from "preact";
import { speakerColour } from "../../../parts/speaker-colour.ts";

/** A label's number on its colour: it tells voices apart also where colours do not. */
export function SpeakerMark({ label }: { label: string }): VNode {
  // Drawn by the style, so that what a button shows is what it is called.
  return (
    <span
      class="speaker-mark"
      aria-hidden="true"
      data-number={label === "UU" ? "?" : label.slice(1)}
      style={{ "--speaker": `var(${speakerColour(label)})` }}
    />
  );
}
