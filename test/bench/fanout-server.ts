/** A broadcaster in a process of its own: publishes as fast as the viewers take it, or at a pace. */
import { createServer, type Socket } from "node:net";
import type { FinalResultsFrame } from "../../src/wire/live-frames.ts";
import { answerParent, sharedMicros } from "./answer-parent.ts";
import { type BroadcasterName, SESSION, startBroadcaster } from "./fanout-broadcasters.ts";

export type FanoutQuestion =
  | { kind: "start" }
  | { kind: "flood"; ms: number; burst: number; window: number }
  | { kind: "pace"; frames: number; everyMs: number }
  | { kind: "memory" };

export interface FloodResult {
  frames: number;
  seconds: number;
  /** Of this process, seconds. */
  cpu: number;
}

const TEXT = "and then we agreed that the second draft goes out on thursday morning";

let seq = 0;
let acknowledged = 0;
let wake = () => {};
const broadcaster = await startBroadcaster(process.argv[2] as BroadcasterName);

/** The viewers' process sends one byte for each burst that all of its viewers have. */
const pacer = createServer((socket: Socket) => {
  socket.on("data", (bytes) => {
    acknowledged += bytes.byteLength;
    wake();
  });
});
await new Promise<void>((resolve) => pacer.listen(0, "127.0.0.1", resolve));

answerParent<FanoutQuestion>(async (question) => {
  if (question.kind === "start") {
    const address = pacer.address();
    return { port: broadcaster.port, pacer: typeof address === "object" ? address?.port : 0 };
  }
  if (question.kind === "flood") return flood(question.ms, question.burst, question.window);
  if (question.kind === "pace") return pace(question.frames, question.everyMs);
  return residentBytes();
});

/** After collections, with --expose-gc. */
async function residentBytes(): Promise<number> {
  for (let times = 0; times < 3; times += 1) {
    await new Promise((resolve) => setTimeout(resolve, 300));
    global.gc?.();
  }
  return process.memoryUsage.rss();
}

/** Bursts of one turn's frames, at most `window` of them under way. */
async function flood(ms: number, burst: number, window: number): Promise<FloodResult> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  acknowledged = 0;
  let bursts = 0;
  while (performance.now() - start < ms) {
    if (bursts - acknowledged >= window) await acknowledgement();
    else {
      broadcaster.publish(Array.from({ length: burst }, () => nextFrame()));
      bursts += 1;
      await new Promise(setImmediate);
    }
  }
  while (acknowledged < bursts) await acknowledgement();
  const seconds = (performance.now() - start) / 1000;
  const used = process.cpuUsage(cpu);
  return { frames: bursts * burst, seconds, cpu: (used.user + used.system) / 1e6 };
}

async function pace(frames: number, everyMs: number): Promise<void> {
  for (let sent = 0; sent < frames; sent += 1) {
    broadcaster.publish([nextFrame()]);
    // Irregular, so that it does not fall into step with a tick.
    await new Promise((resolve) => setTimeout(resolve, everyMs * (0.5 + Math.random())));
  }
}

function acknowledgement(): Promise<void> {
  return new Promise((resolve) => {
    wake = resolve;
  });
}

function nextFrame(): FinalResultsFrame {
  seq += 1;
  return {
    type: "Results",
    session_id: SESSION,
    seq,
    at: new Date().toISOString(),
    segment_id: SESSION,
    revision: 1,
    is_final: true,
    start: seq,
    duration: 1.5,
    transcript: `${TEXT} @${sharedMicros()}@`,
    confidence: 0.93,
    speaker: "S1",
    words: [],
  };
}
