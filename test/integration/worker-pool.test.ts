import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { UnderstandRequest } from "../../src/wire/gen/voice/v1/retrieval.ts";
import { TranscribeRequest } from "../../src/wire/gen/voice/v1/worker.ts";
import { ThreadPool, type ThreadPoolOptions } from "../../workers/threads/pool.ts";
import type { TextWork } from "../../workers/threads/text-calls.ts";
import type { SessionSink } from "../../workers/threads/thread.ts";
import { TextThreadCommands } from "../support/text-commands.ts";

const SCRIPTED = new URL("../support/scripted-thread-entry.ts", import.meta.url);
const COMMANDED = new URL("../support/command-text-entry.ts", import.meta.url);
const BROKEN = new URL("../support/broken-thread-entry.ts", import.meta.url);
const NOBODY: SessionSink = { onBatch: () => {}, onFailed: () => {} };

let pools: ThreadPool[] = [];
afterEach(async () => {
  await Promise.all(pools.map((pool) => pool.stop()));
  pools = [];
});

function create(options: Partial<ThreadPoolOptions> = {}): ThreadPool {
  const pool = new ThreadPool({
    threads: 2,
    sessionsPerThread: 2,
    entry: SCRIPTED,
    clock: systemClock,
    log: silentLog,
    ...options,
  });
  pools.push(pool);
  return pool;
}

function questionAbout(query: string): TextWork {
  const request = UnderstandRequest.encode({ query, nowMs: 0 }).finish();
  const { signal } = new AbortController();
  return { task: "understand", request, onMessage: () => {}, signal };
}

function open(): Uint8Array {
  const value = { sessionId: "s", attempt: 1, language: "", vocabulary: [], interimResults: true };
  return TranscribeRequest.encode({ message: { $case: "open", value } }).finish();
}

describe("thread pool: placing", () => {
  it("fills threads evenly, refuses beyond, and counts sessions being opened", async () => {
    const pool = create();
    await pool.start();
    expect(pool.capacity).toBe(4);
    const opening = Array.from({ length: 5 }, () => pool.open(open(), NOBODY));
    expect(pool.sessions).toBe(4);
    const settled = await Promise.allSettled(opening);
    expect(settled.map(({ status }) => status)).toEqual([
      ...Array.from({ length: 4 }, () => "fulfilled"),
      "rejected",
    ]);
    expect(settled[4]).toMatchObject({ reason: { code: "overloaded" } });
    for (const one of settled) if (one.status === "fulfilled") one.value.close();
    expect(pool.sessions).toBe(0);
  });

  it("tells every change of its load", async () => {
    const loads: number[] = [];
    const pool: ThreadPool = create({ threads: 1, onLoad: () => loads.push(pool.sessions) });
    await pool.start();
    loads.length = 0;
    const session = await pool.open(open(), NOBODY);
    session.close();
    session.close();
    expect(loads).toEqual([1, 0]);
  });
});

describe("thread pool: trouble", () => {
  it("does not start when no thread can, and says why", async () => {
    const start = create({ entry: BROKEN }).start();
    await expect(start).rejects.toMatchObject({ message: "The libraries are not there." });
  });

  it("refuses before its start and after its stop", async () => {
    const pool = create({ threads: 1 });
    await expect(pool.open(open(), NOBODY)).rejects.toMatchObject({ code: "unavailable" });
    await pool.start();
    await pool.stop();
    await expect(pool.open(open(), NOBODY)).rejects.toMatchObject({ code: "unavailable" });
  });

  it("waits for a thread for text longer than one that reads may be silent", async () => {
    const threads = new TextThreadCommands();
    const pool = create({ threads: 1, textEntry: COMMANDED, silenceMs: 1_500 });
    await pool.start();
    await threads.block();
    const work = pool.text(questionAbout("the launch"));
    await new Promise((resolve) => setTimeout(resolve, 4_500));
    threads.close();
    await expect(work).resolves.toBeUndefined();
  });

  it("replaces a thread that has grown, but not under a session", async () => {
    const capacities: number[] = [];
    const pool: ThreadPool = create({
      threads: 1,
      maxHeapBytes: 1,
      onLoad: () => capacities.push(pool.capacity),
    });
    await pool.start();
    const session = await pool.open(open(), NOBODY).catch(() => undefined);
    if (session !== undefined) {
      capacities.length = 0;
      await session.feed(
        TranscribeRequest.encode({ message: { $case: "finalize", value: {} } }).finish(),
      );
      session.close();
    }
    await expect.poll(() => capacities.includes(0), { timeout: 20_000 }).toBe(true);
    await expect.poll(() => pool.capacity, { timeout: 20_000 }).toBe(2);
  });
});
