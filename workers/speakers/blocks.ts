import type { SpeechFrames } from "./feature-stream.ts";

/** A block has at least this much speech, in frames of 10 ms, where its utterance has that. */
const LEAST_FRAMES = 50;
/** Without a pause a block has at most this much. */
const MOST_FRAMES = 200;
const FRAME = 160;
/** The shortest pause at which a block may end, in samples (60 ms). */
const PAUSE = 960;

/**
 * Cuts speech into blocks of some 0.5 to 2 s in which hardly ever two people speak: at each pause
 * that leaves enough on both sides, the longest first, and in the middle of what has none. Returns
 * the frames at which blocks begin, without the first.
 */
export function blockStarts({ starts }: Pick<SpeechFrames, "starts">): number[] {
  return within(starts, 0, starts.length);
}

function within(starts: readonly number[], from: number, to: number): number[] {
  let best = -1;
  let longest = PAUSE;
  for (let at = from + LEAST_FRAMES; at + LEAST_FRAMES <= to; at++) {
    const pause = (starts[at] ?? 0) - (starts[at - 1] ?? 0) - FRAME;
    if (pause < longest) continue;
    longest = pause;
    best = at;
  }
  if (best < 0 && to - from > MOST_FRAMES) best = (from + to) >> 1;
  if (best < 0) return [];
  return [...within(starts, from, best), best, ...within(starts, best, to)];
}
