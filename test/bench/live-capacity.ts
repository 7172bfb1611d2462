import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { encodeWave } from "../../src/cli/device/wave-file.ts";
import { type BareEngine, findBareEngine, readWithBareEngine } from "../eval/bare-engine.ts";
import { fetchEngine } from "../eval/fetch-engine.ts";
import { endedChildrenCpuSeconds } from "./process-cpu.ts";
import type { BenchRow } from "./row.ts";

const BYTES_PER_SECOND = 32_000;
const MARK = 0.9;

/**
 * Live streams that a core carries, over what the engine by itself would allow: its processor time
 * for the same audio over that of all our processes, PostgreSQL and NATS among them.
 */
export function describeCapacity(
  seconds: number,
  cpu: { ours: number; bare: number },
  detail: string,
): BenchRow {
  const [ours, bare] = [seconds / cpu.ours, seconds / cpu.bare];
  const ratio = ours / bare;
  return {
    figure: "live streams per core",
    unit: "streams",
    ours,
    peer: { name: "bare engine", value: bare },
    ratio,
    mark: `>= ${MARK}x`,
    met: ratio >= MARK,
    detail: `by processor time, with interim results and durable audio; the engine reads the same audio at once before and after, one copy on each core, its start not counted; ${detail}`,
  };
}

/**
 * Processor time of the engine's own program for each second of the audio, with a copy on every
 * core as the service has it; undefined without the program.
 */
export async function bareEngineLoad(audio: Buffer): Promise<number | undefined> {
  const engine = obtainEngine();
  if (engine === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "voice-bench-"));
  const copies = Math.min(4, availableParallelism());
  const cost = async (pcm: Buffer) => {
    const file = join(folder, "audio.wav");
    const format = { float: false, bitsPerSample: 16, channels: 1, sampleRate: 16_000 };
    writeFileSync(file, encodeWave({ ...format, data: pcm }));
    const before = endedChildrenCpuSeconds();
    const read = () => readWithBareEngine(engine, file, { keepSilence: false });
    await Promise.all(Array.from({ length: copies }, read));
    return (endedChildrenCpuSeconds() - before) / copies;
  };
  try {
    const start = await cost(audio.subarray(0, BYTES_PER_SECOND / 10));
    return ((await cost(audio)) - start) / (audio.byteLength / BYTES_PER_SECOND);
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
