import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import type { BroadcasterName } from "./fanout-broadcasters.ts";

/** Sees every text frame that is longer than a protocol's own small talk. */
export type FrameListener = (chunk: Buffer, start: number, end: number) => void;

const SMALL_TALK = 64;
const shared = Buffer.alloc(256 * 1024);

/**
 * A WebSocket client that does no more than find the frames in what it gets:
 * all of them read into one buffer, nothing is copied or decoded.
 */
export class RawViewer {
  readonly #socket: Socket;
  readonly #kind: BroadcasterName;
  readonly #onFrame: FrameListener;
  readonly #session: string;
  #ready: (() => void) | undefined;
  #stage: "handshake" | "joining" | "open" = "handshake";
  /** Bytes of the payload in hand that are still to come. */
  #rest = 0;
  /** The beginning of a header that a chunk ended in. */
  #cut: Buffer = Buffer.alloc(0);

  private constructor(
    kind: BroadcasterName,
    port: number,
    session: string,
    onFrame: FrameListener,
    ready: () => void,
    failed: (error: Error) => void,
  ) {
    this.#kind = kind;
    this.#session = session;
    this.#onFrame = onFrame;
    this.#ready = ready;
    this.#socket = connect({
      host: "127.0.0.1",
      port,
      noDelay: true,
      onread: {
        buffer: shared,
        callback: (bytes) => {
          this.#read(shared.subarray(0, bytes));
          return true;
        },
      },
    });
    this.#socket.on("error", failed);
    this.#socket.on("close", () => failed(new Error(`${kind} closed a viewer`)));
    this.#socket.once("connect", () => this.#socket.write(handshake(kind)));
  }

  /** Resolves when the server has taken it for a viewer. */
  static open(
    kind: BroadcasterName,
    port: number,
    session: string,
    onFrame: FrameListener,
  ): Promise<RawViewer> {
    return new Promise((resolve, reject) => {
      const viewer = new RawViewer(kind, port, session, onFrame, () => resolve(viewer), reject);
    });
  }

  close(): void {
    this.#socket.removeAllListeners("close");
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    if (this.#stage === "handshake") {
      const end = chunk.indexOf("\r\n\r\n");
      if (!chunk.subarray(0, 12).equals(Buffer.from("HTTP/1.1 101")) || end < 0) {
        this.#socket.destroy(new Error(chunk.toString()));
        return;
      }
      this.#stage = "joining";
      this.#join();
      chunk = chunk.subarray(end + 4);
    }
    this.#frames(chunk);
  }

  #join(): void {
    if (this.#kind === "ws") this.#opened();
    // Of Socket.IO's protocol: connect to the main namespace.
    if (this.#kind === "socket.io") this.#send("40");
    if (this.#kind === "ours") {
      this.#send(JSON.stringify({ type: "Subscribe", session_id: this.#session }));
    }
  }

  #opened(): void {
    this.#stage = "open";
    this.#ready?.();
    this.#ready = undefined;
  }

  #frames(chunk: Buffer): void {
    if (this.#cut.byteLength > 0) {
      chunk = Buffer.concat([this.#cut, chunk]);
      this.#cut = Buffer.alloc(0);
    }
    let at = Math.min(this.#rest, chunk.byteLength);
    this.#rest -= at;
    while (at < chunk.byteLength) {
      const header = headerLength(chunk, at);
      if (at + header > chunk.byteLength) {
        this.#cut = Buffer.from(chunk.subarray(at));
        return;
      }
      const length = payloadLength(chunk, at);
      const start = at + header;
      const end = Math.min(start + length, chunk.byteLength);
      this.#frame(chunk, at, start, end, length);
      this.#rest = start + length - end;
      at = end;
    }
  }

  #frame(chunk: Buffer, header: number, start: number, end: number, length: number): void {
    const opcode = (chunk[header] ?? 0) & 0x0f;
    if (opcode === 9) return this.#send("", 0x8a);
    if (opcode === 8) return;
    if (this.#stage === "open" && length > SMALL_TALK) return this.#onFrame(chunk, start, end);
    if (this.#kind === "socket.io" && length === 1 && chunk[start] === 0x32) this.#send("3");
    if (this.#stage === "joining" && this.#isWelcome(chunk, start, end)) this.#opened();
  }

  #isWelcome(chunk: Buffer, start: number, end: number): boolean {
    const text = chunk.toString("utf8", start, end);
    return this.#kind === "ours" ? text.startsWith('{"type":"Snapshot"') : text.startsWith("40");
  }

  /** A masked frame, as clients must; the mask is zero. */
  #send(text: string, head = 0x81): void {
    const payload = Buffer.from(text);
    const length = payload.byteLength;
    const size = length < 126 ? [0x80 | length] : [0x80 | 126, length >> 8, length & 0xff];
    this.#socket.write(Buffer.concat([Buffer.from([head, ...size, 0, 0, 0, 0]), payload]));
  }
}

function headerLength(chunk: Buffer, at: number): number {
  const size = (chunk[at + 1] ?? 0) & 0x7f;
  return size < 126 ? 2 : size === 126 ? 4 : 10;
}

/** Only after all of the header is there. */
function payloadLength(chunk: Buffer, at: number): number {
  const size = (chunk[at + 1] ?? 0) & 0x7f;
  if (size < 126) return size;
  return size === 126 ? chunk.readUInt16BE(at + 2) : Number(chunk.readBigUInt64BE(at + 2));
}

const PATHS: Readonly<Record<BroadcasterName, string>> = {
  ours: "/api/live",
  ws: "/",
  "socket.io": "/socket.io/?EIO=4&transport=websocket",
};

function handshake(kind: BroadcasterName): string {
  return [
    `GET ${PATHS[kind]} HTTP/1.1`,
    "Host: 127.0.0.1",
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    `Sec-WebSocket-Key: ${randomBytes(16).toString("base64")}`,
    "Authorization: Bearer viewer",
    "\r\n",
  ].join("\r\n");
}
