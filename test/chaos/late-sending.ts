import { setTimeout as delay } from "node:timers/promises";
import type { AudioChunk } from "../../src/cli/device/audio-chunks.ts";
import { streamChunks } from "../../src/cli/device/device-stream.ts";
import type { VirtualDevice } from "../../src/cli/device/virtual-device.ts";
import type { SeededRandom } from "../support/seeded-random.ts";
import type { Order, Story } from "./stories.ts";

/** A session that is live waits 10 s for what is missing. */
const LONGER_THAN_A_GAP_MS = 13_000;
const BEAT_MS = 5_000;
/** Between two chunks of a backlog: one late reading may be under way when the next one comes. */
const PACE_MS = 400;
const MOST_HELD_IN_A_ROW = 4;

/** Sends a whole recording as the story tells, and stops the session. Returns what came late. */
export async function sendLate(
  device: VirtualDevice,
  sessionId: string,
  chunks: readonly AudioChunk[],
  { delivery, order }: Story,
  speed: number,
  random: SeededRandom,
): Promise<number[]> {
  const stop = () => device.stopSession(sessionId, chunks.length - 1);
  if (delivery === "prompt") {
    await sendInTime(device, sessionId, chunks, speed);
    await stop();
    return [];
  }
  const held = new Set(delivery === "held" ? pickHeld(chunks.length, random) : chunks.keys());
  const stopsFirst = delivery === "stop-first" || random.chance(0.5);
  const inTime = chunks.filter((_, n) => !held.has(n));
  const late = chunks.filter((_, n) => held.has(n));
  if (inTime.length > 0) await sendInTime(device, sessionId, inTime, speed);
  if (delivery === "stop-first") await stop();
  await whileBeating(device, async () => {
    await delay(LONGER_THAN_A_GAP_MS);
    // Of those held back, half of the sessions are stopped when their gaps were given up already.
    if (delivery === "held" && stopsFirst) await stop();
    await sendBacklog(device, sessionId, inOrder(late, order, random), order);
  });
  if (delivery === "held" && !stopsFirst) await stop();
  return late.map(({ sequence }) => sequence);
}

async function sendInTime(
  device: VirtualDevice,
  sessionId: string,
  chunks: readonly AudioChunk[],
  speed: number,
): Promise<void> {
  const { signal } = new AbortController();
  await streamChunks(device, sessionId, chunks, { speed, loss: 0, signal });
}

/**
 * A run of chunks, and sometimes one more behind it. Besides the last, which may be shorter, one
 * is not among them: it tells how long a missing one is, so that what comes late fits its place.
 */
function pickHeld(count: number, random: SeededRandom): number[] {
  const most = Math.max(1, Math.min(MOST_HELD_IN_A_ROW, count - 2));
  const length = 1 + random.below(most);
  // What comes after them shows that they are missing.
  const first = random.below(count - length);
  const run = Array.from({ length }, (_, n) => first + n);
  const beyond = first + length + 1;
  return beyond < count - 1 && random.chance(0.4) ? [...run, beyond] : run;
}

function inOrder(chunks: readonly AudioChunk[], order: Order, random: SeededRandom): AudioChunk[] {
  if (order === "newest first") return chunks.toReversed();
  if (order !== "shuffled") return [...chunks];
  const left = [...chunks];
  return chunks.flatMap(() => left.splice(random.below(left.length), 1));
}

async function sendBacklog(
  device: VirtualDevice,
  sessionId: string,
  chunks: readonly AudioChunk[],
  order: Order,
): Promise<void> {
  if (order === "parallel") {
    await Promise.all(chunks.map((chunk) => device.upload(sessionId, chunk)));
    return;
  }
  for (const chunk of chunks) {
    await device.upload(sessionId, chunk);
    if (order === "twice") {
      await Promise.all([device.upload(sessionId, chunk), device.upload(sessionId, chunk)]);
    }
    await delay(PACE_MS);
  }
}

/** The device says all the while that it is there. */
async function whileBeating(device: VirtualDevice, work: () => Promise<void>): Promise<void> {
  let isBeating = false;
  const beat = async (): Promise<void> => {
    if (isBeating) return;
    isBeating = true;
    await device.heartbeat({ recording: false }).catch(() => undefined);
    isBeating = false;
  };
  void beat();
  const timer = setInterval(() => void beat(), BEAT_MS);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
}
