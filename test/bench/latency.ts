import { join, resolve } from "node:path";
import { readWave } from "../../src/cli/wave-file.ts";
import { RunningService } from "../eval/running-service.ts";
import { LiveReading } from "./live-reading.ts";
import { cpuSeconds } from "./process-cpu.ts";
import type { BenchRow, BenchScale } from "./row.ts";
import { quantile } from "./statistics.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
/** About half of what the engine lets two cores carry. */
const STREAMS = 4;
const SECONDS = 40;
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
