import { DEFAULT_LIVE_LIMITS } from "../../src/http/sockets/live-limits.ts";
import { ChildTask } from "./child-task.ts";
import type { BroadcasterName } from "./fanout-broadcasters.ts";
import type { FanoutQuestion, FloodResult } from "./fanout-server.ts";
import type { ViewersQuestion } from "./fanout-viewers.ts";
import { interleave, medianRatio } from "./rounds.ts";
import type { BenchRow, BenchScale } from "./row.ts";
import { growthExponent, median, quantile } from "./statistics.ts";

const NAMES = ["ours", "ws", "socket.io"] as const;
/** Frames of one turn. */
const BURST = 8;
/** Bursts under way at a time: with more of them a server is no faster, and those of Node get slower. */
const WINDOWS: Readonly<Record<number, Record<BroadcasterName, number>>> = {
  200: { ours: 128, ws: 32, "socket.io": 32 },
  5000: { ours: 16, ws: 4, "socket.io": 4 },
};
const PACED_FRAMES = 20;

interface Stage {
  servers: Record<BroadcasterName, ChildTask>;
  viewers: ChildTask;
}

/** Durable frames from one session to everybody who follows it, against `ws` and `socket.io`. */
export async function measureFanout(scale: BenchScale): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const viewers of [200, 5000]) rows.push(...(await measureAt(viewers, scale)));
  rows.push(await measureGrowth(scale));
  return rows;
}

async function measureAt(viewers: number, scale: BenchScale): Promise<BenchRow[]> {
  const stage = await open(NAMES, viewers);
  try {
    const cpu: number[] = [];
    const flood = (name: BroadcasterName) => async () => {
      const window = WINDOWS[viewers]?.[name] ?? 8;
      const result = await floodOnce(stage, name, scale.roundMs, window);
      if (name === "ours") cpu.push(result.cpu / result.seconds);
      return (result.frames * viewers) / result.seconds;
    };
    const figures = await interleave(scale.rounds, {
      ours: flood("ours"),
      ws: flood("ws"),
      "socket.io": flood("socket.io"),
    });
    const delays = await interleave(scale.rounds, {
      ours: () => delayOnce(stage, "ours", 0.99),
      ws: () => delayOnce(stage, "ws", 0.99),
    });
    return describe(viewers, figures, delays, median(cpu));
  } finally {
    await close(stage);
  }
}

function describe(
  viewers: number,
  figures: Record<BroadcasterName, number[]>,
  delays: { ours: number[]; ws: number[] },
  cpu: number,
): BenchRow[] {
  const marks = { ws: 8, "socket.io": 20 } as const;
  const rows = (["ws", "socket.io"] as const).map((name): BenchRow => {
    const ratio = medianRatio(figures.ours, figures[name]);
    return {
      figure: `fan-out to ${viewers} viewers`,
      unit: "deliveries/s",
      ours: median(figures.ours),
      peer: { name, value: median(figures[name]) },
      ratio,
      mark: `>= ${marks[name]}x`,
      met: ratio >= marks[name],
      detail: `bursts of ${BURST} frames of 300 B; viewers in one other process; our process used ${cpu.toFixed(2)} cores`,
    };
  });
  const tick = DEFAULT_LIVE_LIMITS.tickMs;
  const p99 = median(delays.ours);
  return [
    ...rows,
    {
      figure: `fan-out delay p99, ${viewers} viewers`,
      unit: "ms",
      ours: p99,
      peer: { name: "ws", value: median(delays.ws) },
      ratio: medianRatio(delays.ws, delays.ours),
      mark: `within one tick (${tick} ms)`,
      met: p99 <= tick,
      detail: "one frame every 100 ms or so, from publishing to reading; median of the rounds' p99",
    },
  ];
}

/** One frame to 1x, 4x and 16x the viewers: what it costs the process. */
async function measureGrowth(scale: BenchScale): Promise<BenchRow> {
  const points = [];
  for (const viewers of [200, 800, 3200]) {
    const stage = await open(["ours"], viewers);
    try {
      await floodOnce(stage, "ours", scale.roundMs / 2, 16);
      const { cpu, frames } = await floodOnce(stage, "ours", scale.roundMs, 16);
      points.push({ work: viewers, cost: cpu / frames });
    } finally {
      await close(stage);
    }
  }
  const [first, , last] = points;
  const exponent = growthExponent(points);
  return {
    figure: "fan-out cost of a frame at 1x, 4x, 16x viewers",
    unit: "exponent",
    ours: exponent,
    mark: "<= 1.1",
    met: exponent <= 1.1,
    detail: `${micros(first?.cost)} at 200, ${micros(last?.cost)} at 3200`,
  };
}

function micros(seconds = Number.NaN): string {
  return `${(seconds * 1e6).toFixed(0)} us`;
}

async function open(names: readonly BroadcasterName[], viewers: number): Promise<Stage> {
  const audience = new ChildTask("fanout-viewers.ts");
  const servers = {} as Record<BroadcasterName, ChildTask>;
  for (const name of names) {
    const server = new ChildTask("fanout-server.ts", [name]);
    servers[name] = server;
    const question: FanoutQuestion = { kind: "start" };
    const { port, pacer } = await server.ask<{ port: number; pacer: number }>(question);
    await tell(audience, { kind: "open", server: name, port, pacer, viewers });
  }
  return { servers, viewers: audience };
}

async function close({ servers, viewers }: Stage): Promise<void> {
  await viewers.stop();
  for (const server of Object.values(servers)) await server.stop();
}

async function floodOnce(
  { servers, viewers }: Stage,
  name: BroadcasterName,
  ms: number,
  window: number,
): Promise<FloodResult> {
  await tell(viewers, { kind: "count", server: name, burst: BURST });
  const question: FanoutQuestion = { kind: "flood", ms, burst: BURST, window };
  return servers[name].ask<FloodResult>(question);
}

/** From publishing to reading, milliseconds. */
async function delayOnce(
  { servers, viewers }: Stage,
  name: BroadcasterName,
  share: number,
): Promise<number> {
  await tell(viewers, { kind: "time", server: name });
  const question: FanoutQuestion = { kind: "pace", frames: PACED_FRAMES, everyMs: 100 };
  await servers[name].ask(question);
  const times: ViewersQuestion = { kind: "times", server: name, frames: PACED_FRAMES };
  return quantile([...(await tell<Float64Array>(viewers, times))], share);
}

function tell<T>(viewers: ChildTask, question: ViewersQuestion): Promise<T> {
  return viewers.ask<T>(question);
}
