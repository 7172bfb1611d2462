import { setTimeout as delay } from "node:timers/promises";
import { CommandFailure } from "../client/command-context.ts";
import { keepBeating, type StreamOptions, type StreamProgress } from "./device-stream.ts";
import type { VirtualDevice } from "./virtual-device.ts";
import { frameBytes, toPcm16, type WaveAudio } from "./wave-file.ts";

/** Duration of audio that is sent at once, like that of a microphone. */
const STEP_SECONDS = 0.1;

/**
 * Streams consecutive recordings over one WebSocket; resolves when all of it is stored. Throws when
 * they differ in rate or channels.
 */
export async function streamRecordings(
  device: VirtualDevice,
  sessionId: string,
  recordings: readonly WaveAudio[],
  { speed, loss, signal, onProgress }: StreamOptions,
): Promise<StreamProgress> {
  const parts = recordings.map(toPcm16);
  const [first] = parts;
  if (first === undefined) throw new CommandFailure("there is nothing to stream");
  const { sampleRate, channels } = first;
  if (parts.some((part) => part.sampleRate !== sampleRate || part.channels !== channels)) {
    throw new CommandFailure("files of one stream must have the same sample rate and channels");
  }
  const bytesPerSecond = sampleRate * frameBytes(first);
  let progress: StreamProgress = { chunks: 0, seconds: 0, lost: 0 };
  const sender = device.stream(sessionId, first, {
    signal,
    onStored: (offset) => {
      progress = { ...progress, seconds: offset / bytesPerSecond };
      onProgress?.(progress);
    },
  });
  const stopHeartbeats = keepBeating(device, () => ({ recording: true }));
  const running = sender.run();
  // Awaited below; until then the next push reports a failure.
  running.catch(() => undefined);
  try {
    const step = Math.round(sampleRate * STEP_SECONDS) * frameBytes(first);
    const start = performance.now();
    let sent = 0;
    for (const { data } of parts) {
      for (let at = 0; at < data.length; at += step) {
        const bytes = data.subarray(at, at + step);
        sent += bytes.length;
        const wait = start + ((sent / bytesPerSecond) * 1_000) / speed - performance.now();
        if (wait > 1) await delay(wait, undefined, { signal });
        while (sender.isFull) await delay(20, undefined, { signal });
        sender.push(bytes);
        if (Math.random() < loss * STEP_SECONDS) {
          progress = { ...progress, lost: progress.lost + 1 };
          sender.drop();
        }
      }
    }
    sender.end();
    await running;
  } finally {
    stopHeartbeats();
  }
  return progress;
}
