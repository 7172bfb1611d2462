import { setTimeout as delay } from "node:timers/promises";
import { CommandFailure } from "../client/command-context.ts";
import { checkedFormat, type PcmSource } from "./pcm-source.ts";
import { durationSeconds, frameBytes, toPcm16, type WaveAudio } from "./wave-file.ts";

/** Length of audio that is given out at once, like that of a microphone, seconds. */
const FRAGMENT_S = 0.1;

/**
 * Consecutive recordings as one source, at the pace of a microphone times `speed`, until the signal
 * is aborted. Throws when they differ in rate or channels.
 */
export function pacedRecordings(
  recordings: readonly WaveAudio[],
  speed: number,
  signal: AbortSignal,
): PcmSource {
  const parts = recordings.map(toPcm16);
  const [first] = parts;
  if (first === undefined) throw new CommandFailure("there is nothing to stream");
  const { sampleRate, channels } = first;
  if (parts.some((part) => part.sampleRate !== sampleRate || part.channels !== channels)) {
    throw new CommandFailure("files of one stream must have the same sample rate and channels");
  }
  return { ...checkedFormat({ sampleRate, channels }), fragments: paced(parts, speed, signal) };
}

async function* paced(
  parts: readonly WaveAudio[],
  speed: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const start = performance.now();
  let seconds = 0;
  for (const part of parts) {
    const step = Math.round(part.sampleRate * FRAGMENT_S) * frameBytes(part);
    for (let at = 0; at < part.data.length; at += step) {
      const data = part.data.subarray(at, at + step);
      seconds += durationSeconds({ ...part, data });
      const wait = start + (seconds * 1_000) / speed - performance.now();
      if (wait > 1) await delay(wait, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      yield data;
    }
  }
}
