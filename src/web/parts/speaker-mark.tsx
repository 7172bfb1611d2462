import type { VNode } from "preact";
import { speakerColour } from "./speaker-colour.ts";

/** A label's number on its colour: it tells voices apart also where colours do not. */
export function SpeakerMark({ label }: { label: string }): VNode {
  const number = label.slice(1);
  return (
    <span
      class="speaker-mark"
      aria-hidden="true"
      style={{ "--speaker": `var(${speakerColour(label)})` }}
    >
      {label === "UU" ? "?" : number}
    </span>
  );
}
