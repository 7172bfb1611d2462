import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../../src/base/clock.ts";
import { AppError } from "../../../../src/base/errors.ts";
import { TranscribeRequest } from "../../../../src/wire/gen/voice/v1/worker.ts";
import { Thread } from "../../../../workers/threads/thread.ts";
import type { ThreadEvent } from "../../../../workers/threads/thread-protocol.ts";
import { until } from "../../../support/until.ts";

const SCRIPTED = new URL("../../../support/scripted-thread-entry.ts", import.meta.url);
const BROKEN = new URL("../../../support/broken-thread-entry.ts", import.meta.url);
const MISSING = new URL("../../support/no-such-entry.ts", import.meta.url);

let started: Thread[] = [];
afterEach(() => {
  for (const thread of started) thread.end(new AppError("unavailable", "The test is over."));
  started = [];
});

async function start(
  entry: URL,
  {
    readyMs = 12_000,
    silenceMs = 5_000,
    onEvent = () => {},
  }: { readyMs?: number; silenceMs?: number; onEvent?: (event: ThreadEvent) => void } = {},
) {
  const settings = {};
  const options = { entry, settings, clock: systemClock, readyMs, silenceMs, onEvent };
  const thread = await Thread.start(options);
  started.push(thread);
  return thread;
}

function request(mediaType: string): Uint8Array {
  const value = { sequence: 0, start: 0, length: 16_000, mediaType, data: Buffer.alloc(0) };
  return TranscribeRequest.encode({ message: { $case: "chunk", value } }).finish();
}

function openRequest(language = ""): Uint8Array {
  const value = { sessionId: "s", attempt: 1, language, vocabulary: [], interimResults: false };
  return TranscribeRequest.encode({ message: { $case: "open", value } }).finish();
}

async function openSession(thread: Thread): Promise<void> {
  await thread.call("open", 5_000, (remote) => remote.open(1, openRequest()));
}

describe("thread: start", () => {
  it("is ready with its engines", async () => {
    expect((await start(SCRIPTED)).engines).toMatchObject([{ name: "scripted" }]);
  });

  it("rejects with the reason of a thread that cannot work", async () => {
    await expect(start(BROKEN)).rejects.toMatchObject({
      code: "unavailable",
      message: "The libraries are not there.",
    });
  });

  it("rejects when the file is missing, or the time is over", async () => {
    await expect(start(MISSING)).rejects.toMatchObject({ code: "worker_broken" });
    await expect(start(SCRIPTED, { readyMs: 1 })).rejects.toMatchObject({ code: "timeout" });
  });
});

describe("thread: calls", () => {
  it("answer, and carry the code of an error", async () => {
    const thread = await start(SCRIPTED);
    const opened = await thread.call("open", 5_000, (remote) => remote.open(1, openRequest()));
    expect(opened).toMatchObject({ sessionId: "s", attempt: 1 });
    await expect(
      thread.call("open", 5_000, (remote) => remote.open(2, openRequest("xx"))),
    ).rejects.toMatchObject({ name: "AppError", code: "bad_request" });
    await expect(
      thread.call("feed", 5_000, (remote) => remote.feed(1, request("test/throw"))),
    ).rejects.toMatchObject({ code: "not_audio" });
    expect(thread.isAlive).toBe(true);
  });

  for (const mishap of ["test/crash", "test/hang"]) {
    it(`are rejected when the thread ends meanwhile (${mishap})`, async () => {
      const thread = await start(SCRIPTED, { silenceMs: 800 });
      await openSession(thread);
      const call = thread.call("feed", 20_000, (remote) => remote.feed(1, request(mishap)));
      await expect(call).rejects.toMatchObject({ code: "worker_broken" });
      expect((await thread.ended).code).toBe("worker_broken");
      expect(thread.isAlive).toBe(false);
      await expect(openSession(thread)).rejects.toMatchObject({ code: "worker_broken" });
    });
  }

  it("are rejected in time by a thread that does not answer", async () => {
    const thread = await start(SCRIPTED);
    await openSession(thread);
    const call = thread.call("feed", 50, (remote) => remote.feed(1, request("test/hang")));
    await expect(call).rejects.toMatchObject({ code: "timeout" });
  });

  it("threads that load what they need for work on text may be silent meanwhile", async () => {
    const beats: number[] = [];
    const thread = await start(SCRIPTED, {
      onEvent: (event) => {
        if (event.kind === "beat") beats.push(event.allowanceMs);
      },
    });
    // The dictionaries hold the thread up; a busy machine may take longer than it may be silent.
    await thread.call("text", 30_000, (remote) =>
      remote.startText(1, "summarise", new Uint8Array(0)),
    );
    await until(() => beats.some((ms) => ms >= 30_000), "a beat that asks for time");
    await until(() => beats.at(-1) === 0, "a beat that does not");
  });

  it("an uncaught error ends the thread and names the cause", async () => {
    const thread = await start(SCRIPTED);
    await openSession(thread);
    const call = thread.call("feed", 5_000, (remote) => remote.feed(1, request("test/uncaught")));
    // Answered before the error, or rejected by it: both happen, and both are right.
    await call.catch((error: unknown) => expect(error).toMatchObject({ code: "worker_broken" }));
    expect((await thread.ended).message).toMatch(/JSON/);
  });
});
