import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { GROWTH, type Mishap, poisoned } from "../support/poison-reader.ts";
import { type FixtureWorker, ReadingFixture } from "../support/reading-fixture.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";
import { until } from "../support/until.ts";

/** A second of audio at 16 kHz. */
const BYTES = 32_000;

let bench: ReadingFixture;
let folder: string;
let tries: string;
beforeEach(async () => {
  folder = makeScratchFolder("rescue");
  tries = join(folder, "tries");
  bench = await ReadingFixture.open();
});
afterEach(async () => {
  await bench.close();
  rmSync(folder, { recursive: true, force: true });
});

function chunksWith(mishap: Mishap): Buffer[] {
  return Array.from({ length: 6 }, (_, sequence) =>
    sequence === 3 ? poisoned(mishap, tries, BYTES) : Buffer.alloc(BYTES, sequence + 1),
  );
}

function triesMade(): number {
  return existsSync(tries) ? readFileSync(tries, "utf8").length : 0;
}

const ALL = Array.from({ length: 6 }, () => "completed");

describe("worker: rescue", () => {
  it("worker: a process that stands still is noticed, and its sessions go on elsewhere", async () => {
    await bench.startProcess();
    await bench.startProcess();
    const { sessionId } = await bench.record(chunksWith("stop"));
    await until(() => triesMade() === 1, "the worker to stand still", 30_000);
    // Well before the 120 s that a stalled stream of a worker in good health is given.
    await bench.completed(sessionId, 60_000);
    expect(await bench.statuses(sessionId)).toEqual(ALL);
    expect(triesMade()).toBe(2);
    expect(await bench.words(sessionId)).toEqual(ALL.map((_, n) => `word${n}`));
  });

  it("worker: a thread that has grown is replaced under its sessions, which lose nothing", async () => {
    const capacities: number[] = [];
    let running: FixtureWorker | undefined;
    const worker = await bench.startWorker({
      maxHeapBytes: GROWTH / 2,
      moveAfterMs: 200,
      onLoad: () => capacities.push(running?.pool.capacity ?? -1),
    });
    running = worker;
    const { device, sessionId } = await bench.begin();
    const chunks = chunksWith("grow");
    const first = chunks.slice(0, 5);
    for (const [sequence, pcm] of first.entries()) {
      await bench.upload(device, sessionId, sequence, pcm);
    }
    const read = async () => (await bench.statuses(sessionId)).filter((each) => each === ALL[0]);
    await until(async () => (await read()).length === first.length, "all to be read", 30_000);
    await until(() => capacities.includes(0), "the thread to be replaced", 30_000);
    await bench.upload(device, sessionId, 5, chunks[5] ?? Buffer.alloc(BYTES));
    await bench.stop(device, 5);
    await bench.completed(sessionId);
    expect(await bench.statuses(sessionId)).toEqual(ALL);
    expect(await bench.words(sessionId)).toEqual(ALL.map((_, n) => `word${n}`));
    expect(triesMade()).toBe(1);
    expect(worker.pool.capacity).toBe(8);
    const rows = await bench.fixture.sql("select 1 from suspects where session_id = $1", [
      sessionId,
    ]);
    expect(rows).toEqual([]);
  });
});
