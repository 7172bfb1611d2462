import { setTimeout as delay } from "node:timers/promises";
import { AccessEnded } from "../../client/audio-sender.ts";
import { reasonOf } from "../../client/errors.ts";
import { clockTime } from "../../wire/clock-time.ts";
import { CommandFailure } from "../client/command-context.ts";
import type { AudioSender } from "./audio-sender.ts";
import { type StreamOptions, type StreamProgress, sendHeartbeats } from "./device-stream.ts";
import { resumeUpload } from "./resume-upload.ts";
import type { VirtualDevice } from "./virtual-device.ts";
import { durationSeconds, frameBytes, toPcm16, type WaveAudio } from "./wave-file.ts";

/** Duration of audio that is sent at once, like that of a microphone. */
const STEP_SECONDS = 0.1;

export interface AudioStreamEvents {
  readonly signal: AbortSignal;
  /** Called with the seconds of audio that the service has stored. */
  readonly onStored?: (seconds: number) => void;
  /** Called when the right to stream ended, before what was recorded until then is brought. */
  readonly onAccessEnded?: ((reason: string) => void) | undefined;
}

/**
 * Streams audio over one WebSocket, which `feed` pushes and ends; resolves when all of it is stored.
 * Throws when the right to stream ends in its middle: then what was recorded until that moment is
 * uploaded first.
 */
export async function streamAudio(
  device: VirtualDevice,
  sessionId: string,
  format: Omit<WaveAudio, "data">,
  { signal, onStored, onAccessEnded }: AudioStreamEvents,
  feed: (sender: AudioSender) => Promise<void>,
): Promise<void> {
  const bytesPerSecond = format.sampleRate * format.channels * (format.bitsPerSample / 8);
  let stored = 0;
  const onSeconds = (seconds: number) => {
    stored = seconds;
    onStored?.(seconds);
  };
  const sender = device.stream(sessionId, format, {
    signal,
    onStored: (offset) => onSeconds(offset / bytesPerSecond),
  });
  const stopHeartbeats = sendHeartbeats(device, () => ({ recording: true }));
  const running = sender.run();
  // Awaited below; until then the next push reports a failure.
  running.catch(() => undefined);
  try {
    await feed(sender);
    await running;
  } catch (error) {
    if (!(error instanceof AccessEnded)) throw error;
    onAccessEnded?.(error.reason);
    const cutOff = { sessionId, format, unstored: error.unstored };
    const brought = resumeUpload(device, cutOff, signal, onSeconds);
    throw await brought.then(
      () => cutOffAt(stored, error),
      (cause: unknown) => (signal.aborted ? cause : notBrought(stored, cause)),
    );
  } finally {
    stopHeartbeats();
  }
}

/**
 * Streams consecutive recordings over one WebSocket; see `streamAudio`. Throws when they differ in
 * rate or channels.
 */
export async function streamRecordings(
  device: VirtualDevice,
  sessionId: string,
  recordings: readonly WaveAudio[],
  { speed, loss, signal, onProgress, onAccessEnded }: StreamOptions,
): Promise<StreamProgress> {
  const parts = recordings.map(toPcm16);
  const [first] = parts;
  if (first === undefined) throw new CommandFailure("there is nothing to stream");
  const { sampleRate, channels } = first;
  if (parts.some((part) => part.sampleRate !== sampleRate || part.channels !== channels)) {
    throw new CommandFailure("files of one stream must have the same sample rate and channels");
  }
  let progress: StreamProgress = { chunks: 0, seconds: 0, lost: 0 };
  const onStored = (seconds: number) => {
    progress = { ...progress, seconds };
    onProgress?.(progress);
  };
  await streamAudio(device, sessionId, first, { signal, onStored, onAccessEnded }, (sender) =>
    play(sender, parts, { speed, loss, signal }, () => {
      progress = { ...progress, lost: progress.lost + 1 };
    }),
  );
  return progress;
}

/** Pushes the recordings at the pace of a microphone; `onLoss` is told of each cut connection. */
async function play(
  sender: AudioSender,
  recordings: readonly WaveAudio[],
  { speed, loss, signal }: Pick<StreamOptions, "speed" | "loss" | "signal">,
  onLoss: () => void,
): Promise<void> {
  const start = performance.now();
  let seconds = 0;
  for (const recording of recordings) {
    const { data, sampleRate } = recording;
    const step = Math.round(sampleRate * STEP_SECONDS) * frameBytes(recording);
    for (let at = 0; at < data.length; at += step) {
      const fragment = { ...recording, data: data.subarray(at, at + step) };
      seconds += durationSeconds(fragment);
      const wait = start + (seconds * 1_000) / speed - performance.now();
      if (wait > 1) await delay(wait, undefined, { signal });
      while (sender.isFull) await delay(20, undefined, { signal });
      sender.push(fragment.data);
      if (Math.random() >= loss * STEP_SECONDS) continue;
      onLoss();
      sender.drop();
    }
  }
  sender.end();
}

function cutOffAt(seconds: number, cause: unknown): CommandFailure {
  const until = `What was recorded until then, ${clockTime(seconds)}, is stored.`;
  return new CommandFailure(`Your access ended during the recording. ${until}`, cause);
}

function notBrought(seconds: number, cause: unknown): CommandFailure {
  const lost = `what was recorded after ${clockTime(seconds)} could not be brought`;
  return new CommandFailure(`Your access ended, and ${lost}: ${reasonOf(cause)}`, cause);
}
