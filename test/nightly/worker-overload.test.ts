import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { HeartbeatFrame, WarningFrame } from "../../src/wire/live-frames.ts";
import { ReadingFixture } from "../support/reading-fixture.ts";
import { until } from "../support/until.ts";

/** A second of audio at 16 kHz. */
const BYTES = 32_000;
const CHUNKS = 4;

let bench: ReadingFixture;
beforeEach(async () => {
  bench = await ReadingFixture.open();
});
afterEach(() => bench.close());

function chunks(): Buffer[] {
  return Array.from({ length: CHUNKS }, (_, sequence) => Buffer.alloc(BYTES, sequence + 1));
}

function warnings(sessionId: string): string[] {
  return bench.frames
    .filter((frame): frame is WarningFrame => frame.type === "Warning")
    .filter((frame) => frame.session_id === sessionId)
    .map(({ code }) => code);
}

function heartbeats(sessionId: string): HeartbeatFrame[] {
  return bench.frames
    .filter((frame): frame is HeartbeatFrame => frame.type === "Heartbeat")
    .filter((frame) => frame.session_id === sessionId);
}

describe("worker: overload", () => {
  it("worker: a session without a place waits, says so once, lags visibly, and is read later", async () => {
    await bench.startWorker({ sessionsPerThread: 1 });
    const first = await bench.begin();
    for (const [sequence, pcm] of chunks().entries()) {
      await bench.upload(first.device, first.sessionId, sequence, pcm);
    }
    const done = async () => (await bench.statuses(first.sessionId)).at(-1) === "completed";
    await until(done, "the first session to be read so far", 30_000);

    const second = await bench.record(chunks());
    await until(() => heartbeats(second.sessionId).length >= 2, "two heartbeats", 30_000);
    expect(warnings(second.sessionId)).toEqual(["overloaded"]);
    expect(heartbeats(second.sessionId).map(({ lag_ms }) => lag_ms)).toEqual(
      heartbeats(second.sessionId).map(() => CHUNKS * 1_000),
    );
    expect(await bench.lag(second.sessionId)).toBe(CHUNKS * 1_000);
    // The session that has its place lags no more, however long it goes on.
    expect(heartbeats(first.sessionId).at(-1)?.lag_ms).toBe(0);

    await bench.stop(first.device, CHUNKS - 1);
    await bench.completed(first.sessionId);
    await bench.completed(second.sessionId);
    expect(warnings(second.sessionId)).toEqual(["overloaded", "resumed"]);
    expect(warnings(first.sessionId)).toEqual([]);
    expect(new Set(await bench.statuses(second.sessionId))).toEqual(new Set(["completed"]));
    expect(await bench.lag(second.sessionId)).toBe(0);
    const broken = await bench.fixture.sql("select 1 from suspects");
    expect(broken).toEqual([]);
  });
});
