import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { encodeWave, readWave } from "../../src/cli/wave-file.ts";
import { type BareEngine, findBareEngine, readWithBareEngine } from "../eval/bare-engine.ts";
import { fetchEngine } from "../eval/fetch-engine.ts";
import { RunningService } from "../eval/running-service.ts";
import { LiveReading } from "./live-reading.ts";
import { cpuSeconds, endedChildrenCpuSeconds } from "./process-cpu.ts";
import type { BenchRow, BenchScale } from "./row.ts";
import { quantile } from "./statistics.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
/** About half of what the engine lets two cores carry. */
const STREAMS = 4;
const SECONDS = 40;
const WARM_SECONDS = 12;
const FRAME_MS = 100;
const BYTES_PER_SECOND = 32_000;

const MARKS = {
  interim: { p50: 300, p95: 600 },
  final: { p50: 350, p95: 700 },
} as const;

/** Words and finals of device streams at a viewer, everything in its place: `npm run up`. */
export async function measureLatency(scale: BenchScale): Promise<BenchRow[]> {
  const { data } = readWave(join(PROJECT, "deploy/demo/conversation.wav"));
  const streams = Math.max(1, Math.round(STREAMS * scale.size));
  const audio = data.subarray(0, Math.round(SECONDS * Math.sqrt(scale.size)) * BYTES_PER_SECOND);
  const service = await RunningService.start(PROJECT);
  try {
    const reading = await LiveReading.connect(service.address);
    // The first session waits for the engine's models to be read.
    await reading.measure(audio.subarray(0, WARM_SECONDS * BYTES_PER_SECOND), FRAME_MS);
    const pids = Object.values(service.address.pids);
    const used = () => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
    const before = used();
    const start = performance.now();
    const delays = await Promise.all(
      Array.from({ length: streams }, () => reading.measure(audio, FRAME_MS)),
    );
    const cores = ((used() - before) * 1000) / (performance.now() - start);
    const detail = `${streams} device streams of ${audio.byteLength / BYTES_PER_SECOND} s in frames of ${FRAME_MS} ms, in real time; all of the service used ${cores.toFixed(2)} cores`;
    return [
      ...(await describeCapacity(audio, streams, used() - before)),
      ...describe(
        "interim",
        "first sight of a word",
        delays.flatMap(({ interim }) => interim),
        detail,
      ),
      ...describe(
        "final",
        "final after the last voice",
        delays.flatMap(({ final }) => final),
        detail,
      ),
    ];
  } finally {
    await service.stop();
  }
}

function describe(
  kind: keyof typeof MARKS,
  figure: string,
  delays: readonly number[],
  detail: string,
): BenchRow[] {
  return (["p50", "p95"] as const).map((name) => {
    const value = quantile(delays, name === "p50" ? 0.5 : 0.95);
    const mark = MARKS[kind][name];
    return {
      figure: `${figure}, ${name}`,
      unit: "ms",
      ours: value,
      mark: `<= ${mark} ms`,
      met: value <= mark,
      detail: `${delays.length} of them; ${detail}`,
    };
  });
}

/**
 * Live streams that a core carries, over what the engine by itself would allow: its processor time
 * for the same audio over that of all our processes, PostgreSQL and NATS among them.
 */
async function describeCapacity(audio: Buffer, streams: number, cpu: number): Promise<BenchRow[]> {
  const seconds = audio.byteLength / BYTES_PER_SECOND;
  const alone = await bareEngineCpu(audio);
  if (alone === undefined) return [];
  const ours = (streams * seconds) / cpu;
  const ratio = ours / (seconds / alone);
  return [
    {
      figure: "live streams per core",
      unit: "streams",
      ours,
      peer: { name: "bare engine", value: seconds / alone },
      ratio,
      mark: ">= 0.9x",
      met: ratio >= 0.9,
      detail:
        "by processor time, with interim results and durable audio; the engine reads the same audio at once, its start not counted",
    },
  ];
}

/** Seconds; undefined without the engine's own program. */
async function bareEngineCpu(audio: Buffer): Promise<number | undefined> {
  const engine = obtainEngine();
  if (engine === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "voice-bench-"));
  const cost = async (pcm: Buffer) => {
    const file = join(folder, "audio.wav");
    const format = { float: false, bitsPerSample: 16, channels: 1, sampleRate: 16_000 };
    writeFileSync(file, encodeWave({ ...format, data: pcm }));
    const before = endedChildrenCpuSeconds();
    await readWithBareEngine(engine, file, { keepSilence: false });
    return endedChildrenCpuSeconds() - before;
  };
  try {
    const start = await cost(audio.subarray(0, BYTES_PER_SECOND / 10));
    return (await cost(audio)) - start;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** As `npm run eval` has it: installed, in the cache, or fetched into it. */
function obtainEngine(): BareEngine | undefined {
  const cache = process.env.VOICE_CACHE_DIR ?? join(homedir(), ".cache", "voice-session-service");
  const unpacked = join(cache, "eval-engine");
  const roots = [process.env.VOICE_NATIVE_ROOT ?? "", unpacked].filter(Boolean);
  const found = findBareEngine(roots, process.env.PATH ?? "");
  if (found !== undefined) return found;
  try {
    fetchEngine(unpacked);
    return findBareEngine([unpacked], "");
  } catch {
    return undefined;
  }
}
