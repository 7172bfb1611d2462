import type { VNode } from "preact";
import { clockTime } from "../../../wire/clock-time.ts";
import type { SessionModel } from "./model/session-model.ts";

interface Moment {
  readonly start_ms: number;
  readonly text: string;
  readonly speaker?: string | undefined;
}

interface MomentsProps {
  model: SessionModel;
  moments: readonly Moment[];
  onJump: () => void;
}

/** Moments of the session with what was said there; each leads to it. */
export function Moments({ model, moments, onJump }: MomentsProps): VNode {
  return (
    <ul class="moments">
      {moments.map(({ start_ms: start, text, speaker }) => (
        <li key={`${start} ${text}`}>
          <button
            type="button"
            class="moment"
            onClick={() => {
              onJump();
              model.jumpTo(start);
            }}
          >
            <span class="moment-at">
              {clockTime(start / 1_000)}
              {speaker !== undefined && ` ${model.nameOf(speaker)}`}
            </span>
            <span>{text}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
