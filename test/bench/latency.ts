import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { readWave } from "../../src/cli/device/wave-file.ts";
import { RunningService } from "../eval/running-service.ts";
import { describeProfiles } from "./cpu-profile.ts";
import { describeCapacity } from "./live-capacity.ts";
import { type EngineTime, type LiveDelays, LiveReading } from "./live-reading.ts";
import { treeCpuSeconds } from "./process-cpu.ts";
import { profileEnvironment } from "./profile-flags.ts";
import type { BenchRow, BenchScale } from "./row.ts";
import { quantile } from "./statistics.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
/** One: what somebody who speaks alone waits for. */
const STREAMS = 1;
const SECONDS = 40;
const WARM_SECONDS = 12;
const FRAME_MS = 100;
const BYTES_PER_SECOND = 32_000;
/** They all read the same: people who do not talk in unison begin this much apart. */
const APART_MS = 1_370;

type Kind = "interim" | "final" | "own";

const MARKS: Record<Kind, { p50?: number; p95: number }> = {
  interim: { p50: 400, p95: 800 },
  final: { p50: 700, p95: 1_050 },
  own: { p95: 20 },
};

const FIGURES: Record<Kind, string> = {
  interim: "first sight of a word",
  final: "final after the last voice",
  own: "our share of it",
};

interface Measured {
  delays: LiveDelays[];
  seconds: number;
  /** Processor seconds by part, all that a part started included. */
  cpu: Record<string, number>;
  cores: number;
}

/** Words and finals of device streams at a viewer, everything in its place: `npm run up`. */
export async function measureLatency(scale: BenchScale): Promise<BenchRow[]> {
  const { data } = readWave(join(PROJECT, "deploy/demo/conversation.wav"));
  const streams = Math.max(1, Math.round(STREAMS * scale.size));
  const said = data.subarray(0, Math.round(SECONDS * Math.sqrt(scale.size)) * BYTES_PER_SECOND);
  // Silence behind it, so that the last utterance ends too.
  const audio = Buffer.concat([said, Buffer.alloc(BYTES_PER_SECOND)]);
  const profile = profileEnvironment();
  const service = await RunningService.start(PROJECT, { LOG_LEVEL: "debug", ...profile.env });
  const { pids } = service.address;
  let measured: Measured;
  try {
    measured = await streamAll(service, audio, streams);
  } finally {
    await service.stop();
  }
  const told = profile.folder && `the profile says ${describeProfiles(profile.folder, pids)}`;
  const length = `${audio.byteLength / BYTES_PER_SECOND} s in frames of ${FRAME_MS} ms`;
  const detail = `${streams} device streams of ${length}, in real time; all of the service used ${measured.cores.toFixed(2)} cores`;
  return [
    capacity(measured, told),
    ...(["interim", "final", "own"] as const).flatMap((kind) =>
      describe(kind, measured.delays, detail),
    ),
  ];
}

async function streamAll(
  service: RunningService,
  audio: Buffer,
  streams: number,
): Promise<Measured> {
  const reading = await LiveReading.connect(service.address);
  // As many sessions as are measured: the engine's models are read for each, as the bare engine's
  // are, whose start is not counted either.
  const warm = audio.subarray(0, WARM_SECONDS * BYTES_PER_SECOND);
  await Promise.all(Array.from({ length: streams }, () => reading.measure(warm, FRAME_MS)));
  const before = partCpu(service.address.pids);
  const start = performance.now();
  const delays = await Promise.all(
    Array.from({ length: streams }, async (_, index) => {
      await delay(index * APART_MS);
      return reading.measure(audio, FRAME_MS, (session) => engineTimes(service, session));
    }),
  );
  const elapsed = (performance.now() - start) / 1000;
  const cpu = partCpu(service.address.pids);
  for (const part of Object.keys(cpu)) cpu[part] = (cpu[part] ?? 0) - (before[part] ?? 0);
  const seconds = (streams * audio.byteLength) / BYTES_PER_SECOND;
  return { delays, seconds, cpu, cores: sum(Object.values(cpu)) / elapsed };
}

function partCpu(pids: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(pids).map(([part, pid]) => [part, treeCpuSeconds(pid)]));
}

interface FinalLine {
  end: number;
  needed?: number;
  engine_ms: number;
}

/** What the session's host noted, by each final's end. */
function engineTimes(service: RunningService, session: string): EngineTime[] {
  return service.log("main").flatMap((line) => {
    if (!line.includes('"event":"final"') || !line.includes(session)) return [];
    const { end, needed = end, engine_ms } = JSON.parse(line) as FinalLine;
    return [{ end, needed, engineMs: engine_ms }];
  });
}

function capacity({ cpu, seconds }: Measured, told: string | undefined): BenchRow {
  const parts = Object.entries(cpu).map(([part, used]) => `${part} ${used.toFixed(1)} s`);
  const detail = [`processor time: ${parts.join(", ")}`, told].filter(Boolean).join("; ");
  return describeCapacity(seconds, sum(Object.values(cpu)), detail);
}

function describe(kind: Kind, delays: readonly LiveDelays[], detail: string): BenchRow[] {
  const values = delays.flatMap((each) => each[kind]);
  const wait = delays.flatMap((each) => each.wait);
  const engine = delays.flatMap((each) => each.engine);
  const less = `less the engine's time since the audio that ended the utterance was there (p50 ${middle(engine)} ms) and the wait for that audio (p50 ${middle(wait)} ms)`;
  return (["p50", "p95"] as const).map((name) => {
    const value = quantile(values, name === "p50" ? 0.5 : 0.95);
    const mark = MARKS[kind][name];
    return {
      figure: `${FIGURES[kind]}, ${name}`,
      unit: "ms",
      ours: value,
      ...(mark === undefined
        ? { mark: "" }
        : { ratio: mark / value, mark: `<= ${mark} ms`, met: value <= mark }),
      detail: [`${values.length} of them`, ...(kind === "own" ? [less] : []), detail].join("; "),
    };
  });
}

function middle(values: readonly number[]): string {
  return quantile(values, 0.5).toFixed(0);
}

function sum(values: readonly number[]): number {
  return values.reduce((one, other) => one + other, 0);
}
