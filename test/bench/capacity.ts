import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { readWave } from "../../src/cli/device/wave-file.ts";
import { RunningService } from "../eval/running-service.ts";
import { LiveReading } from "./live-reading.ts";
import type { BenchRow, BenchScale } from "./row.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const BYTES_PER_SECOND = 32_000;
const FRAME_MS = 100;
const SECONDS = 40;
/** They all read the same: people who do not talk in unison begin this much apart. */
const APART_MS = 1_370;
const MOST_LAG_MS = 2_000;
/** Streams a core. */
const MARK = 5;
const PLACES = "16";
/** Streams a core that are tried, first and last. */
const FIRST = 2;
const LAST = 9;

/**
 * How many live streams are read at once with lags and finals below 2 s on all cores, clients and databases on
 * the same. Streams are added one by one until the lag of one grows beyond.
 */
export async function measureCapacity(scale: BenchScale): Promise<BenchRow[]> {
  const { data } = readWave(join(PROJECT, "deploy/demo/conversation.wav"));
  const seconds = Math.round(SECONDS * Math.sqrt(scale.size));
  const audio = data.subarray(0, seconds * BYTES_PER_SECOND);
  const cores = availableParallelism();
  const tried = await addStreams(audio, cores);
  const held = tried.findLast(({ lag }) => lag < MOST_LAG_MS)?.streams ?? 0;
  return [
    {
      figure: `live streams per core with a lag below ${MOST_LAG_MS / 1_000} s`,
      unit: "streams",
      ours: held / cores,
      ratio: held / cores / MARK,
      mark: `>= ${MARK}`,
      met: held / cores >= MARK,
      detail: `${cores} cores, ${seconds} s each in frames of ${FRAME_MS} ms, as many viewers; longest lag in ms: ${tried.map(({ streams, lag }) => `${streams} ${lag.toFixed(0)}`).join(", ")}`,
    },
  ];
}

interface Tried {
  streams: number;
  /** The longest that a session told, or that a final came after the last voice, ms. */
  lag: number;
}

async function addStreams(audio: Buffer, cores: number): Promise<Tried[]> {
  const tried: Tried[] = [];
  // The machine is to be the limit, not the places that a worker has.
  const service = await RunningService.start(PROJECT, { WORKER_SESSIONS_PER_THREAD: PLACES });
  try {
    const reading = await LiveReading.connect(service.address);
    const first = FIRST * cores;
    // Recognisers are loaded and code is compiled before it counts.
    await streamsAtOnce(reading, audio.subarray(0, audio.byteLength / 4), first);
    for (let streams = first; streams <= LAST * cores; streams += 1) {
      const lag = await streamsAtOnce(reading, audio, streams);
      process.stderr.write(`${streams} streams: longest lag ${lag.toFixed(0)} ms\n`);
      tried.push({ streams, lag });
      if (lag >= MOST_LAG_MS) break;
    }
  } finally {
    await service.stop();
  }
  return tried;
}

async function streamsAtOnce(reading: LiveReading, audio: Buffer, count: number): Promise<number> {
  const lags = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      await delay((index * APART_MS) % 5_000);
      const { longestLag, final } = await reading.measure(audio, FRAME_MS);
      return Math.max(longestLag, ...final);
    }),
  );
  return Math.max(...lags);
}
