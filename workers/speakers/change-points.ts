import { FRAMES_PER_SECOND, type SpeechFrames } from "./feature-stream.ts";
import { separation } from "./voice-evidence.ts";
import { VoiceStatistics } from "./voice-statistics.ts";

/** Number of frames on each side of a candidate that are compared. */
const REACH = 5 * FRAMES_PER_SECOND;
/** Without a pause, only a clear change between long stretches splits an utterance. */
const FLUENT = { least: Math.round(1.5 * FRAMES_PER_SECOND), clear: 12 };
/** At a pause, where speakers mostly change, a smaller change is enough. */
const PAUSED = { least: Math.round(0.8 * FRAMES_PER_SECOND), clear: 0 };
const STEP = Math.round(0.2 * FRAMES_PER_SECOND);
/** Distance between speech frames that counts as a pause, in samples (0.2 s). */
const PAUSE = 3200 + 640;

/**
 * Indices of frames at which the speaker of an utterance seems to change, in order. `all` is all
 * speech of the session, including this utterance.
 */
export function changePoints(speech: SpeechFrames, all: VoiceStatistics): number[] {
  return within(speech, all, 0, speech.starts.length);
}

function within(speech: SpeechFrames, all: VoiceStatistics, from: number, to: number): number[] {
  let best = -1;
  let most = 0;
  for (let at = from + PAUSED.least; at + PAUSED.least <= to; at++) {
    const paused = (speech.starts[at] ?? 0) - (speech.starts[at - 1] ?? 0) >= PAUSE;
    const { least, clear } = paused ? PAUSED : FLUENT;
    if (!paused && (at - from) % STEP !== 0) continue;
    if (Math.min(at - from, to - at) < least) continue;
    const left = VoiceStatistics.of(speech.rows, Math.max(from, at - REACH), at);
    const right = VoiceStatistics.of(speech.rows, at, Math.min(to, at + REACH));
    const beyond = separation(left, right, all) - clear;
    if (beyond <= most) continue;
    most = beyond;
    best = at;
  }
  if (best < 0) return [];
  return [...within(speech, all, from, best), best, ...within(speech, all, best, to)];
}
