import { setTimeout as delay } from "node:timers/promises";
import type { PcmSource } from "./pcm-source.ts";
import { type AudioStreamEvents, streamAudio } from "./stream-audio.ts";
import type { VirtualDevice } from "./virtual-device.ts";

interface LiveRecordingOptions extends AudioStreamEvents {
  /** Ends the recording; what came until then is still sent. */
  readonly stop: AbortSignal;
  /** Ends the recording after so many seconds of sound. */
  readonly mostSeconds?: number | undefined;
}

/**
 * Streams a source until it ends or `stop` is aborted; resolves with its length in seconds when all
 * of it is stored.
 */
export async function streamLive(
  device: VirtualDevice,
  sessionId: string,
  source: PcmSource,
  { stop, mostSeconds = Number.POSITIVE_INFINITY, ...events }: LiveRecordingOptions,
): Promise<number> {
  const { sampleRate, channels, fragments } = source;
  const format = { float: false, bitsPerSample: 16, sampleRate, channels };
  const bytesPerSecond = 2 * channels * sampleRate;
  const most = Math.round(mostSeconds * sampleRate) * 2 * channels;
  let sent = 0;
  await streamAudio(device, sessionId, format, events, async (sender) => {
    for await (const fragment of untilAborted(fragments, stop)) {
      while (sender.isFull) await delay(20, undefined, { signal: events.signal });
      const wanted = fragment.subarray(0, most - sent);
      sender.push(wanted);
      sent += wanted.byteLength;
      if (sent >= most) break;
    }
    sender.end();
  });
  return sent / bytesPerSecond;
}

/** The items until the signal is aborted, also while none comes. */
async function* untilAborted<T>(items: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  const aborted = new Promise<undefined>((settle) => {
    if (signal.aborted) settle(undefined);
    signal.addEventListener("abort", () => settle(undefined), { once: true });
  });
  for (;;) {
    const next = await Promise.race([iterator.next(), aborted]);
    if (next === undefined || next.done) return;
    yield next.value;
  }
}
