import { connect } from "node:net";
import { Readable } from "node:stream";
import { Type } from "@sinclair/typebox";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDeferred, type Deferred } from "../../src/base/deferred.ts";
import { defineRoute } from "../../src/rest/route.ts";
import { startFront, type TestFront } from "../support/front.ts";
import { until } from "../support/until.ts";

/** Longer than uWebSockets.js lets a connection be without a byte of the request, which is fixed. */
const LONG_MS = 13_000;
const EVERY_MS = 2_000;
/** Longer than the front waits before it renews the time that uWebSockets.js allows. */
const LATE_MS = 4_000;

/** An answer that is told piece by piece after an upload. */
describe("front: long answers", () => {
  let front: TestFront;
  let answerMs: number;
  let signals: AbortSignal[];
  let release: () => void;
  let gate: Promise<void>;
  let sourceEnded: Deferred<void>;

  beforeEach(async () => {
    answerMs = 0;
    signals = [];
    gate = Promise.resolve();
    release = () => {};
    sourceEnded = createDeferred<void>();
    const route = defineRoute({
      method: "post",
      path: "/upload",
      id: "upload",
      tag: "Session",
      summary: "Told piece by piece",
      auth: [],
      errors: [],
      body: { kind: "upload" },
      responses: {
        200: { description: "Text", schema: Type.String(), mediaTypes: ["text/plain"] },
      },
      handle: async ({ upload, signal }) => {
        signals.push(signal);
        await gate;
        return {
          status: 200,
          headers: { "content-type": "text/plain" },
          events: { open: () => told(upload?.bytes ?? 0) },
        };
      },
    });
    const known = defineRoute({
      method: "post",
      path: "/known",
      id: "known",
      tag: "Session",
      summary: "Of a length that is known",
      auth: [],
      errors: [],
      body: { kind: "upload" },
      responses: {
        200: { description: "Text", schema: Type.String(), mediaTypes: ["text/plain"] },
      },
      handle: async ({ upload }) => {
        const length = upload?.bytes ?? 0;
        return {
          status: 200,
          headers: { "content-type": "text/plain" },
          stream: { length, open: () => slowToEnd(length) },
        };
      },
    });
    front = await startFront({ routes: [route, known] });
  });
  afterEach(() => front.stop());

  async function* told(bytes: number): AsyncGenerator<string> {
    for (let ms = 0; ms < answerMs; ms += EVERY_MS) {
      yield " ";
      await new Promise((wake) => setTimeout(wake, EVERY_MS));
    }
    yield `${bytes} bytes`;
  }

  /** All of its bytes at once, and its end only when the answer has long been sent. */
  async function* slowToEnd(bytes: number): AsyncGenerator<Buffer> {
    yield Buffer.alloc(bytes);
    await new Promise((wake) => setTimeout(wake, LATE_MS));
    sourceEnded.resolve();
  }

  const headers = { "content-type": "audio/wav" };

  it("come whole to requests whose length nobody told, as of a stream that is read from a file", async () => {
    const pieces = Array.from({ length: 20 }, () => Buffer.alloc(5_000));
    const body = Readable.toWeb(Readable.from(pieces)) as unknown as NonNullable<
      RequestInit["body"]
    >;
    const request: RequestInit & { duplex: "half" } = {
      ...{ method: "POST", body, headers },
      duplex: "half",
    };
    const answer = await fetch(`${front.base}/upload`, request);
    expect(answer.headers.get("connection")).toBe("close");
    expect(await answer.text()).toBe("100000 bytes");
  });

  it("come whole after a body that was large enough to be paused", async () => {
    answerMs = LONG_MS;
    const body = Buffer.alloc(5_000_000);
    const answer = await fetch(`${front.base}/upload`, { method: "POST", body, headers });
    expect((await answer.text()).trim()).toBe("5000000 bytes");
  });

  it("are left alone once they are sent, though their source has not ended", async () => {
    const errors: Error[] = [];
    const note = (error: Error) => errors.push(error);
    process.on("uncaughtException", note);
    try {
      const body = Buffer.alloc(50_000);
      const answer = await fetch(`${front.base}/known`, { method: "POST", body, headers });
      expect((await answer.arrayBuffer()).byteLength).toBe(50_000);
      await sourceEnded.promise;
    } finally {
      process.off("uncaughtException", note);
    }
    expect(errors.map(String)).toEqual([]);
  });

  it.each([1_000, 20_000, 100_000, 1_000_000])(
    "are given up when the caller of a body of %i bytes goes",
    async (bytes) => {
      gate = new Promise((resolve) => {
        release = resolve;
      });
      const socket = connect(front.port, "127.0.0.1");
      socket.on("error", () => {});
      const head = `POST /api/upload HTTP/1.1\r\nHost: x\r\nContent-Type: audio/wav\r\nContent-Length: ${bytes}\r\n\r\n`;
      socket.write(Buffer.concat([Buffer.from(head), Buffer.alloc(bytes)]));
      await until(() => signals.length === 1, "the handler");
      socket.destroy();
      try {
        await until(() => signals[0]?.aborted === true, "the end of the call", 5_000);
      } finally {
        release();
      }
    },
  );
});
