import { setTimeout as delay } from "node:timers/promises";
import type { AudioChunk } from "./audio-chunks.ts";
import type { VirtualDevice } from "./virtual-device.ts";

export interface StreamOptions {
  /** 1 is real time; Infinity sends as fast as the service accepts. */
  readonly speed: number;
  /**
   * Share of transmissions that get lost, 0..0.9: half on the way to the service, half on the way
   * back.
   */
  readonly loss: number;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: StreamProgress) => void;
  /** Called when the right to stream ended, before what was recorded until then is brought. */
  readonly onAccessEnded?: ((reason: string) => void) | undefined;
}

export interface StreamProgress {
  readonly chunks: number;
  /** Seconds of audio that the service has stored. */
  readonly seconds: number;
  /** Number of transmissions that the simulated network lost. */
  readonly lost: number;
}

const HEARTBEAT_MS = 15_000;
/** With 90 % loss, the highest allowed, this many attempts all fail once in 10^9 chunks. */
const MOST_LOSSES = 200;
const LOSS_WAIT_MS = 50;

/**
 * Sends chunks in order, each at the time when a device would have recorded it, and heartbeats
 * meanwhile.
 */
export async function streamChunks(
  device: VirtualDevice,
  sessionId: string,
  chunks: Iterable<AudioChunk>,
  { speed, loss, signal, onProgress }: StreamOptions,
): Promise<StreamProgress> {
  const start = performance.now();
  let progress: StreamProgress = { chunks: 0, seconds: 0, lost: 0 };
  const stopHeartbeats = sendHeartbeats(device, () => ({
    recording: true,
    chunks: progress.chunks,
  }));
  try {
    for (const chunk of chunks) {
      const due = start + (chunk.recordedAt * 1000) / speed;
      const wait = due - performance.now();
      if (wait > 1) await delay(wait, undefined, { signal });
      const lost = await sendThroughLoss(
        () => device.upload(sessionId, chunk, signal),
        loss,
        signal,
      );
      progress = {
        chunks: chunk.sequence + 1,
        seconds: chunk.recordedAt,
        lost: progress.lost + lost,
      };
      onProgress?.(progress);
    }
  } finally {
    stopHeartbeats();
  }
  return progress;
}

/** Repeats a transmission as a device does that gets no answer; returns how many were lost. */
async function sendThroughLoss(
  send: () => Promise<unknown>,
  loss: number,
  signal: AbortSignal,
): Promise<number> {
  for (let lost = 0; ; lost++) {
    const dropped = lost < MOST_LOSSES && Math.random() < loss;
    const arrives = !dropped || Math.random() < 0.5;
    if (arrives) await send();
    if (!dropped) return lost;
    await delay(LOSS_WAIT_MS, undefined, { signal });
  }
}

/** Sends heartbeats until the returned function is called. */
export function sendHeartbeats(
  device: VirtualDevice,
  telemetry: () => Record<string, unknown>,
): () => void {
  let inFlight = false;
  const beat = async () => {
    if (inFlight) return;
    inFlight = true;
    try {
      await device.heartbeat(telemetry());
    } catch {
      // Its retries are used up; the next heartbeat or upload will report the problem.
    } finally {
      inFlight = false;
    }
  };
  const timer = setInterval(beat, HEARTBEAT_MS);
  timer.unref();
  return () => clearInterval(timer);
}
