import { computed, useComputed } from "@preact/signals";
import { Pause, Play } from "lucide-preact";
import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { clockTime } from "../../../wire/clock-time.ts";
import { ChapterMenu, useChapters } from "./chapter-menu.tsx";
import { type Chapter, chapterAt } from "./chapters.ts";
import type { SessionModel } from "./model/session-model.ts";
import { Waveform } from "./waveform.tsx";
import "./player.css";
import { Choice } from "../../parts/fields.tsx";

const RATES = [0.75, 1, 1.25, 1.5, 2];

/** Plays the session's sound; where it is not for this person, there is no bar. */
export function PlayerBar({ model }: { model: SessionModel }): VNode | null {
  const { player } = model;
  const state = player.state.value;
  if (state === "hidden" || state === "none") return null;
  if (state === "failed") {
    return (
      <div class="player">
        <span class="soft small">{player.error.value}</span>
        <button type="button" class="button" onClick={() => void player.open()}>
          Try again
        </button>
      </div>
    );
  }
  return <Bar model={model} />;
}

function Bar({ model }: { model: SessionModel }): VNode {
  const { player } = model;
  const isPlaying = player.isPlaying.value;
  const found = useChapters(model);
  const { chapters } = found;
  const place = useMemo(
    () => computed(() => chapterAt(chapters, player.time.value)),
    [chapters, player],
  );
  const now = place.value;
  return (
    <section class="player" aria-label="Sound">
      <button
        type="button"
        class="button primary icon"
        aria-label={isPlaying ? "Pause" : "Play"}
        onClick={() => player.toggle()}
      >
        {isPlaying ? <Pause size={18} aria-hidden="true" /> : <Play size={18} aria-hidden="true" />}
      </button>
      <div class="player-sound">
        <ChapterStrip model={model} chapters={chapters} now={now} />
        <Waveform model={model} chapters={chapters} />
      </div>
      <Clock model={model} />
      <ChapterMenu model={model} now={now} {...found} />
      <Choice
        class="input player-rate"
        aria-label="Speed"
        value={player.rate.value}
        of={RATES.map((rate) => ({ id: rate, name: `${rate}×` }))}
        onChoose={(rate) => player.setRate(rate)}
      />
      {player.error.value !== "" && (
        <span class="small" role="alert">
          {player.error.value}
        </span>
      )}
    </section>
  );
}

function Clock({ model }: { model: SessionModel }): VNode {
  const { time, length } = model.player;
  const at = useComputed(() => clockTime(time.value)).value;
  return <span class="player-clock small soft">{`${at} / ${clockTime(length.value)}`}</span>;
}

interface StripProps {
  model: SessionModel;
  chapters: readonly Chapter[];
  now: number;
}

/** The chapters above the sound, each as wide as it is long. */
function ChapterStrip({ model, chapters, now }: StripProps): VNode | null {
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
