import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Mishap, poisoned } from "../support/poison-reader.ts";
import { ReadingFixture } from "../support/reading-fixture.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";
import { until } from "../support/until.ts";

/** A second of audio at 16 kHz. */
const BYTES = 32_000;
const POISONED = 3;
const CHUNKS = 6;

let bench: ReadingFixture;
let folder: string;
let tries: string;
beforeEach(async () => {
  folder = makeScratchFolder("poison");
  tries = join(folder, "tries");
  bench = await ReadingFixture.open();
});
afterEach(async () => {
  await bench.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Chunks of which one is poisoned; all others differ, so that none is taken for another. */
function chunks(mishap: Mishap): Buffer[] {
  return Array.from({ length: CHUNKS }, (_, sequence) =>
    sequence === POISONED ? poisoned(mishap, tries, BYTES) : innocent(sequence),
  );
}

function innocent(sequence: number): Buffer {
  return Buffer.alloc(BYTES, sequence + 1);
}

function triesMade(): number {
  return existsSync(tries) ? readFileSync(tries, "utf8").length : 0;
}

const OUTCOME = Array.from({ length: CHUNKS }, (_, n) => (n === POISONED ? "failed" : "completed"));

describe("poison audio", () => {
  for (const mishap of ["exit", "hang", "throw"] as const) {
    it(`poison audio: is tried three times, then failed alone (${mishap})`, async () => {
      await bench.startWorker({ silenceMs: 1_000 });
      const { sessionId } = await bench.record(chunks(mishap));
      await bench.completed(sessionId);
      expect(await bench.statuses(sessionId)).toEqual(OUTCOME);
      expect(triesMade()).toBe(3);
      // Its span was read as a gap: this reader makes an utterance of each second all the same.
      expect(await bench.words(sessionId)).toHaveLength(CHUNKS);
    });
  }

  it("poison audio: the count goes on when another host takes the session over", async () => {
    await bench.startWorker();
    bench.opens = 2;
    const { sessionId } = await bench.record(chunks("exit"));
    const breaks = async () =>
      bench.fixture.sql("select breaks from suspects where session_id = $1 and breaks = 2", [
        sessionId,
      ]);
    await until(async () => (await breaks()).length === 1, "two breaks", 60_000);
    bench.opens = Number.POSITIVE_INFINITY;
    await bench.takeOver([sessionId]);
    await bench.completed(sessionId);
    expect(await bench.statuses(sessionId)).toEqual(OUTCOME);
    expect(triesMade()).toBe(3);
  });

  it("poison audio: is given up while it is still being streamed, and failed once it is a chunk", async () => {
    await bench.startWorker();
    const { device, sessionId } = await bench.begin();
    const begun = () =>
      bench.fixture.sql("select 1 from events where session_id = $1", [sessionId]);
    await until(async () => (await begun()).length > 0, "the session's start", 30_000);
    // Two pieces of what will be chunk 0; readings break at the second.
    const pieces = [innocent(0), poisoned("exit", tries, BYTES)];
    for (const [piece, data] of pieces.entries()) {
      await bench.fixture.sql(
        `insert into audio_pieces (session_id, sequence, piece, media_type, frames, sample_rate, data)
         values ($1, 0, $2, 'audio/pcm;rate=16000;channels=1;encoding=s16le', $3, 16000, $4)`,
        [sessionId, piece, BYTES / 2, data],
      );
    }
    await bench.takeOver([sessionId]);
    const gaveUp = () =>
      bench.fixture.sql("select 1 from suspects where session_id = $1 and breaks = 3", [sessionId]);
    await until(async () => (await gaveUp()).length === 1, "three breaks", 60_000);
    await bench.fixture.sql("delete from audio_pieces where session_id = $1", [sessionId]);
    await bench.upload(device, sessionId, 0, Buffer.concat(pieces));
    await bench.upload(device, sessionId, 1, innocent(1));
    await bench.stop(device, 1);
    await bench.completed(sessionId);
    expect(await bench.statuses(sessionId)).toEqual(["failed", "completed"]);
    expect(triesMade()).toBe(3);
  });

  it("poison audio: kills whole processes, and costs no other session a chunk", async () => {
    const worker = await bench.startProcess();
    const long = (n: number) => Array.from({ length: 20 }, (_, k) => innocent(20 * n + k));
    const [{ sessionId }, ...others] = await Promise.all([
      bench.record(chunks("kill")),
      bench.record(long(1)),
      bench.record(long(2)),
    ]);
    await bench.completed(sessionId);
    expect(await bench.statuses(sessionId)).toEqual(OUTCOME);
    expect(triesMade()).toBe(3);
    expect(worker.starts).toBeGreaterThanOrEqual(4);
    for (const other of others) {
      await bench.completed(other.sessionId);
      expect(new Set(await bench.statuses(other.sessionId))).toEqual(new Set(["completed"]));
    }
  });

  it("poison audio: a worker that leaves or is killed now and then is not blamed on the audio", async () => {
    const worker = await bench.startProcess();
    const calm = Array.from({ length: CHUNKS }, (_, n) => innocent(n));
    for (let times = 0; times < 2; times += 1) {
      const { starts, pid } = worker;
      process.kill(pid, "SIGKILL");
      await until(() => worker.starts > starts, "the worker to be back", 60_000);
    }
    const { sessionId } = await bench.record(calm);
    process.kill(worker.pid, "SIGKILL");
    await bench.completed(sessionId);
    expect(new Set(await bench.statuses(sessionId))).toEqual(new Set(["completed"]));
  });
});
