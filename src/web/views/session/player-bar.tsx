import { Pause, Play } from "lucide-preact";
import type { VNode } from "preact";
import { clockTime } from "../../../wire/clock-time.ts";
import type { SessionModel } from "./session-model.ts";
import { Waveform } from "./waveform.tsx";

const RATES = [0.75, 1, 1.25, 1.5, 2];

/** Plays the session's sound; where it is not for this person, there is no bar. */
export function PlayerBar({ model }: { model: SessionModel }): VNode | null {
  const { player } = model;
  const state = player.state.value;
  if (state === "hidden" || state === "none") return null;
  if (state === "failed") {
    return (
      <div class="player">
        <span class="soft small">{player.told.value}</span>
        <button type="button" class="button" onClick={() => void player.open()}>
          Try again
        </button>
      </div>
    );
  }
  const isPlaying = player.isPlaying.value;
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
      <Waveform model={model} />
      <Clock model={model} />
      <select
        class="input player-rate"
        aria-label="Speed"
        value={String(player.rate.value)}
        onChange={({ currentTarget }) => player.setRate(Number(currentTarget.value))}
      >
        {RATES.map((rate) => (
          <option key={rate} value={String(rate)}>
            {`${rate}×`}
          </option>
        ))}
      </select>
      {player.told.value !== "" && (
        <span class="small" role="alert">
          {player.told.value}
        </span>
      )}
    </section>
  );
}

function Clock({ model }: { model: SessionModel }): VNode {
  const { time, length } = model.player;
  return (
    <span class="player-clock small soft">{`${clockTime(time.value)} / ${clockTime(length.value)}`}</span>
  );
}
