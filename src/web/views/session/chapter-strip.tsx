import type { VNode } from "preact";
import { clockTime } from "../../../wire/clock-time.ts";
import type { Chapter } from "./chapters.ts";
import type { SessionModel } from "./model/session-model.ts";

interface StripProps {
  model: SessionModel;
  chapters: readonly Chapter[];
  now: number;
}

/** The chapters above the sound, each as wide as it is long. */
export function ChapterStrip({ model, chapters, now }: StripProps): VNode | null {
  const end = model.player.length.value * 1_000;
  if (chapters.length < 2 || end === 0) return null;
  return (
    <div class="chapters">
      {chapters.map(({ startMs, title }, n) => {
        const from = n === 0 ? 0 : startMs;
        const to = chapters[n + 1]?.startMs ?? end;
        return (
          <button
            key={startMs}
            type="button"
            title={`${clockTime(startMs / 1_000)} ${title}`}
            aria-current={n === now ? "true" : undefined}
            style={{ flexGrow: Math.max(0, to - from) }}
            onClick={() => model.jumpTo(startMs)}
          >
            {title}
          </button>
        );
      })}
    </div>
  );
}
