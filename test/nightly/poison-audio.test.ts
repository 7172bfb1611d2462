import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { innocent, OUTCOME, PoisonedRecording } from "../support/poisoned-recording.ts";
import type { ReadingFixture } from "../support/reading-fixture.ts";
import { until } from "../support/until.ts";

let recording: PoisonedRecording;
let bench: ReadingFixture;
beforeEach(async () => {
  recording = await PoisonedRecording.open();
  bench = recording.bench;
});
afterEach(() => recording?.close());

describe("poison audio, however it comes", () => {
  for (const mishap of ["hang", "throw"] as const) {
    it(`poison audio: is tried three times, then failed alone (${mishap})`, async () => {
      await bench.startWorker({ silenceMs: 1_000 });
      const { sessionId } = await bench.record(recording.chunks(mishap));
      await bench.completed(sessionId);
      expect(await bench.statuses(sessionId)).toEqual(OUTCOME);
      expect(recording.triesMade).toBe(3);
      // Its span was read as a gap: this reader makes an utterance of each second all the same.
      expect(await bench.words(sessionId)).toHaveLength(OUTCOME.length);
    });
  }

  it("poison audio: the count goes on when another host takes the session over", async () => {
    await bench.startWorker();
    bench.opens = 2;
    const { sessionId } = await bench.record(recording.chunks("exit"));
    const breaks = async () =>
      bench.fixture.sql("select breaks from suspects where session_id = $1 and breaks = 2", [
        sessionId,
      ]);
    await until(async () => (await breaks()).length === 1, "two breaks", 60_000);
    bench.opens = Number.POSITIVE_INFINITY;
    await bench.takeOver([sessionId]);
    await bench.completed(sessionId);
    expect(await bench.statuses(sessionId)).toEqual(OUTCOME);
    expect(recording.triesMade).toBe(3);
  });

  it("poison audio: kills whole processes, and costs no other session a chunk", async () => {
    const worker = await bench.startProcess();
    const long = (n: number) => Array.from({ length: 20 }, (_, k) => innocent(20 * n + k));
    const [{ sessionId }, ...others] = await Promise.all([
      bench.record(recording.chunks("kill")),
      bench.record(long(1)),
      bench.record(long(2)),
    ]);
    await bench.completed(sessionId);
    expect(await bench.statuses(sessionId)).toEqual(OUTCOME);
    expect(recording.triesMade).toBe(3);
    expect(worker.starts).toBeGreaterThanOrEqual(4);
    for (const other of others) {
      await bench.completed(other.sessionId);
      expect(new Set(await bench.statuses(other.sessionId))).toEqual(new Set(["completed"]));
    }
  });

  it("poison audio: a worker that leaves or is killed now and then is not blamed on the audio", async () => {
    const worker = await bench.startProcess();
    for (let times = 0; times < 2; times += 1) {
      const { starts, pid } = worker;
      process.kill(pid, "SIGKILL");
      await until(() => worker.starts > starts, "the worker to be back", 60_000);
    }
    const { sessionId } = await bench.record(PoisonedRecording.calm());
    process.kill(worker.pid, "SIGKILL");
    await bench.completed(sessionId);
    expect(new Set(await bench.statuses(sessionId))).toEqual(new Set(["completed"]));
  });
});
