import type { VNode } from "preact";
import { speakerColour } from "../../../parts/speaker-colour.ts";
import { lengthOf } from "../../../parts/times.ts";
import type { SessionModel } from "../model/session-model.ts";
import { SpeakerMark } from "./speaker-mark.tsx";

/** How much of the talk was whose. */
export function SpeakersPane({ model }: { model: SessionModel }): VNode {
  const { shares } = model;
  if (shares.length === 0) return <p class="soft small">Nobody has been heard yet.</p>;
  return (
    <div class="stack">
      <div class="share-bar" aria-hidden="true">
        {shares.map(({ label, share }) => (
          <span
            key={label}
            style={{ flexGrow: share, background: `var(${speakerColour(label)})` }}
          />
        ))}
      </div>
      <ul class="shares">
        {shares.map(({ label, share, seconds, lines }) => (
          <li key={label} style={{ "--speaker": `var(${speakerColour(label)})` }}>
            <span class="share-name">
              <SpeakerMark label={label} /> {model.nameOf(label)}
            </span>
            <span class="soft small">
              {`${Math.round(share * 100)} %, ${lengthOf(seconds * 1_000)}, ${lines} ${lines === 1 ? "line" : "lines"}`}
            </span>
          </li>
        ))}
      </ul>
      <p class="soft small">
        A press on a name in the text claims the voice as yours
        {model.mayName && ", names it"}
        {model.mayEdit && ", joins it with another, or splits it"}.
      </p>
    </div>
  );
}
