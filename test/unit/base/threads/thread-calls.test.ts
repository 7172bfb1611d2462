import { afterEach, describe, expect, it } from "vitest";
import { ThreadCalls } from "../../../../src/base/threads/thread-calls.ts";

const ENTRY = new URL("../../../support/echo-thread-entry.ts", import.meta.url);

describe("thread calls", () => {
  let calls: ThreadCalls<string, string>;

  function open(longestMs = 60_000): void {
    calls = new ThreadCalls({
      ...{ entry: ENTRY, queue: "echo", what: "Answering", threads: 2, longestMs },
      waiting: { capacity: 64, share: 48 },
    });
  }
  afterEach(() => calls.stop());

  it("thread calls: while one tenant's calls take for ever another one is answered", async () => {
    open();
    const flood = Array.from({ length: 50 }, () =>
      calls.call("flood", () => "hang").catch((error: { code: string }) => error.code),
    );
    expect(await calls.call("other", () => "hello")).toBe("hello");
    expect(await flood[49]).toBe("overloaded");
    await calls.stop();
    expect(await flood[0]).toBe("unavailable");
  });

  it("thread calls: a request is made when it is its turn", async () => {
    open();
    const made: string[] = [];
    const make = (name: string) => () => {
      made.push(name);
      return name;
    };
    const first = calls.call("a", make("hang"));
    first.catch(() => {});
    const second = calls.call("a", make("second"));
    await calls.call("b", make("b"));
    expect(made).toEqual(["hang", "b"]);
    await calls.stop();
    await expect(first).rejects.toMatchObject({ code: "unavailable" });
    expect(await second).toBe("second");
  });

  it("thread calls: failures are told, and a thread that ended is replaced", async () => {
    open();
    await expect(calls.call("a", () => "fail")).rejects.toThrow("It cannot be done.");
    await expect(calls.call("a", () => "end")).rejects.toMatchObject({ code: "unavailable" });
    const unmade = calls.call("a", () => Promise.reject(new Error("nothing to send")));
    await expect(unmade).rejects.toThrow("nothing to send");
    expect(await calls.call("a", () => "hello")).toBe("hello");
  });

  it("thread calls: one whose caller goes is ended, and frees its thread and its turn", async () => {
    open();
    const gone = new AbortController();
    const hanging = calls.call("a", () => "hang", gone.signal);
    hanging.catch(() => {});
    const waiting = calls.call("a", () => "waits", gone.signal);
    waiting.catch(() => {});
    const next = calls.call("a", () => "next");
    expect(await calls.call("b", () => "b")).toBe("b");
    gone.abort();
    await expect(hanging).rejects.toMatchObject({ code: "unavailable" });
    await expect(waiting).rejects.toMatchObject({ code: "unavailable" });
    expect(await next).toBe("next");
    expect(calls.queues).toMatchObject([{ length: 0 }]);
  });

  it("thread calls: one whose caller goes while its request is made is not begun", async () => {
    open();
    const gone = new AbortController();
    const leave = async () => {
      gone.abort();
      return "hang";
    };
    const left = calls.call("a", leave, gone.signal);
    await expect(left).rejects.toMatchObject({ code: "unavailable" });
    expect(await calls.call("a", () => "hello")).toBe("hello");
  });

  it("thread calls: one that takes too long is ended, and the next one is answered", async () => {
    open(2_000);
    await expect(calls.call("a", () => "hang")).rejects.toMatchObject({ code: "timeout" });
    expect(await calls.call("a", () => "hello")).toBe("hello");
  });
});
