import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createDeferred, type Deferred } from "../../../src/base/deferred.ts";
import { AppError } from "../../../src/base/errors.ts";
import type { FileCall } from "../../../src/openai-deepgram/file-calls.ts";
import { heldOpen, WEBVTT, WHITE_SPACE } from "../../../src/openai-deepgram/held-answer.ts";
import type { Reply } from "../../../src/rest/route.ts";

describe("answers of calls that take long", () => {
  let read: Deferred<string>;

  beforeEach(() => {
    vi.useFakeTimers();
    read = createDeferred<string>();
  });
  afterEach(() => vi.useRealTimers());

  function answer(contentType: string): Promise<Reply> {
    const call: Pick<FileCall, "transcribe"> = { transcribe: () => read.promise };
    const lead = contentType === "text/vtt" ? WEBVTT : WHITE_SPACE;
    const writing = { style: "raw", numbers: "words" } as const;
    const granularities: ReadonlySet<string> = new Set();
    const form = { dialect: "openai", format: "json", granularities, writing } as const;
    return heldOpen(call, { contentType, lead, form }, new AbortController().signal);
  }

  it.each([
    ["application/json", '{"text":"hello"}', '\n\n{"text":"hello"}'],
    ["text/plain", "hello\n", "\n\nhello\n"],
    ["application/x-subrip", "1\n00:00:00,000 --> …", "\n\n1\n00:00:00,000 --> …"],
    ["text/vtt", "WEBVTT\n\n00:00.000 --> …", "WEBVTT\n\n\n00:00.000 --> …"],
  ])("%s: begins after 20 s, and is whole in the end", async (contentType, text, told) => {
    const replying = answer(contentType);
    await vi.advanceTimersByTimeAsync(20_000);
    const reply = await replying;
    expect(reply).toMatchObject({ status: 200, headers: { "content-type": contentType } });
    const open = reply.events?.open(new AbortController().signal);
    const parts: string[] = [];
    const reading = (async () => {
      for await (const part of open ?? []) parts.push(part);
    })();
    await vi.advanceTimersByTimeAsync(4_000);
    expect(parts).toHaveLength(2);
    read.resolve(text);
    await reading;
    expect(parts.join("")).toBe(told);
  });

  it("an answer that comes in time has nothing in front", async () => {
    read.resolve("WEBVTT\n\n");
    const reply = await answer("text/vtt");
    expect(reply).toMatchObject({ status: 200, body: "WEBVTT\n\n" });
  });

  it("an error in time is told as one; one after the beginning ends the answer", async () => {
    const early = answer("text/plain");
    read.reject(new AppError("not_audio", "It is none."));
    await expect(early).rejects.toThrow("It is none.");

    read = createDeferred<string>();
    const late = answer("text/plain");
    await vi.advanceTimersByTimeAsync(20_000);
    const parts = (await late).events?.open(new AbortController().signal)[Symbol.asyncIterator]();
    expect(await parts?.next()).toEqual({ done: false, value: "\n" });
    read.reject(new AppError("not_audio", "It is none."));
    await expect(parts?.next()).rejects.toThrow("It is none.");
  });
});
