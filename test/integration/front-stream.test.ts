import { createHash, randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { HttpLimits } from "../../src/http/server/http-limits.ts";
import { type BodyStream, defineRoute } from "../../src/rest/route.ts";
import { startFront, type TestFront } from "../support/front.ts";
import { until } from "../support/until.ts";

const PIECE = 64 * 1024;

let front: TestFront | undefined;

afterEach(async () => {
  await front?.stop();
  front = undefined;
});

/** A source that tells what was asked of it. */
class WatchedSource implements BodyStream {
  readonly length: number;
  readonly #bytes: Buffer;
  readonly #failAt: number;
  given = 0;
  opened = 0;
  aborted = false;
  closed = false;

  constructor(bytes: Buffer, announced = bytes.length, failAt = Number.POSITIVE_INFINITY) {
    this.#bytes = bytes;
    this.length = announced;
    this.#failAt = failAt;
  }

  async *open(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    this.opened += 1;
    signal.addEventListener("abort", () => {
      this.aborted = true;
    });
    try {
      for (let at = 0; at < this.#bytes.length; at += PIECE) {
        if (at >= this.#failAt) throw new Error("the disk is gone");
        const piece = this.#bytes.subarray(at, at + PIECE);
        this.given += piece.length;
        yield piece;
      }
    } finally {
      this.closed = true;
    }
  }
}

async function serve(source: BodyStream, limits: Partial<HttpLimits> = {}): Promise<TestFront> {
  const route = defineRoute({
    method: "get",
    path: "/bytes",
    id: "bytes",
    tag: "Session",
    summary: "Bytes",
    auth: [],
    errors: [],
    responses: { 200: { description: "Bytes", mediaTypes: ["application/octet-stream"] } },
    handle: async () => ({
      status: 200,
      stream: source,
      headers: { "content-type": "application/octet-stream", etag: '"1"' },
    }),
  });
  front = await startFront({ routes: [route], limits });
  return front;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function request(port: number): Socket {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write("GET /api/bytes HTTP/1.1\r\nHost: x\r\n\r\n");
  return socket;
}

describe("front stream", () => {
  it("front stream: 20 MB arrive as they were, and the connection lives on", async () => {
    const bytes = randomBytes(20 * 1024 * 1024);
    const { base } = await serve(new WatchedSource(bytes));
    for (let round = 0; round < 2; round++) {
      const response = await fetch(`${base}/bytes`);
      expect(response.status).toBe(200);
      expect(response.headers.get("content-length")).toBe(String(bytes.length));
      expect(response.headers.get("content-type")).toBe("application/octet-stream");
      expect(response.headers.get("x-api-version")).toBe("1.0");
      expect(sha256(new Uint8Array(await response.arrayBuffer()))).toBe(sha256(bytes));
    }
  });

  it("front stream: a slow reader is waited for and gets every byte", async () => {
    const bytes = randomBytes(20 * 1024 * 1024);
    const source = new WatchedSource(bytes);
    const { port } = await serve(source);
    const socket = request(port);
    socket.pause();
    let seen = -1;
    // It asks for no more than the sockets hold.
    await until(() => {
      const same = source.given === seen;
      seen = source.given;
      return same && seen > 0;
    }, "the source to wait");
    expect(source.given).toBeLessThan(bytes.length);
    const parts: Buffer[] = [];
    let received = 0;
    socket.on("data", (part) => {
      parts.push(part);
      received += part.length;
      if (received % 5 === 0) {
        socket.pause();
        setImmediate(() => socket.resume());
      }
    });
    socket.resume();
    await until(() => received > bytes.length, "all of it", 60_000);
    const all = Buffer.concat(parts);
    const body = all.subarray(all.indexOf("\r\n\r\n") + 4);
    expect(sha256(body)).toBe(sha256(bytes));
    expect(source.closed).toBe(true);
    socket.destroy();
  });

  it("front stream: a caller that leaves ends the source", async () => {
    const source = new WatchedSource(randomBytes(20 * 1024 * 1024));
    const { port } = await serve(source);
    const socket = request(port);
    socket.once("data", () => socket.destroy());
    await until(() => source.aborted && source.closed, "the source to end");
    expect(source.given).toBeLessThan(source.length);
  });

  it("front stream: a caller that takes nothing loses its connection", async () => {
    const source = new WatchedSource(randomBytes(20 * 1024 * 1024));
    const { port } = await serve(source, { downloadStallMs: 300 });
    const socket = request(port);
    socket.pause();
    await until(() => source.aborted && source.closed, "the source to end");
    expect(source.given).toBeLessThan(source.length);
    socket.destroy();
  });

  it("front stream: HEAD tells the length and opens nothing", async () => {
    const source = new WatchedSource(randomBytes(1_000));
    const { base } = await serve(source);
    const response = await fetch(`${base}/bytes`, { method: "HEAD" });
    expect([response.status, response.headers.get("content-length")]).toEqual([200, "1000"]);
    expect(response.headers.get("etag")).toBe('"1"');
    expect(await response.text()).toBe("");
    expect(source.opened).toBe(0);
  });

  it("front stream: a source that fails at once is answered 500, later it cuts the body", async () => {
    const first = await serve(new WatchedSource(randomBytes(PIECE * 4), PIECE * 4, 0));
    const refused = await fetch(`${first.base}/bytes`);
    expect(refused.status).toBe(500);
    expect(await refused.json()).toMatchObject({ success: false });
    await first.stop();
    const later = await serve(new WatchedSource(randomBytes(PIECE * 4), PIECE * 4, PIECE * 2));
    const cut = await fetch(`${later.base}/bytes`);
    expect(cut.status).toBe(200);
    await expect(cut.arrayBuffer()).rejects.toThrow();
  });

  it("front stream: fewer bytes than announced never look like all of them", async () => {
    const { base } = await serve(new WatchedSource(randomBytes(PIECE), PIECE * 2));
    const response = await fetch(`${base}/bytes`);
    await expect(response.arrayBuffer()).rejects.toThrow();
  });

  it("front stream: downloads beyond the bound are told to come back", async () => {
    const source = new WatchedSource(randomBytes(20 * 1024 * 1024));
    const { base, port } = await serve(source, { concurrentDownloads: 1 });
    const socket = request(port);
    socket.pause();
    await until(() => source.given > 0, "the first download to begin");
    const second = await fetch(`${base}/bytes`);
    expect([second.status, second.headers.get("x-error-code")]).toEqual([503, "overloaded"]);
    expect(second.headers.get("retry-after")).toBe("2");
    socket.destroy();
  });
});
