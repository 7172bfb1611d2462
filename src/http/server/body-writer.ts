import type { HttpResponse } from "uWebSockets.js";
import { createDeferred, type Deferred } from "../../base/deferred.ts";

/** What the writer needs of a response; `close` must lead to `gone`. */
type WritableResponse = Pick<
  HttpResponse,
  "cork" | "tryEnd" | "onWritable" | "getWriteOffset" | "close"
>;

interface Waiting {
  chunk: Uint8Array;
  /** Offset of the chunk's first byte in the body. */
  from: number;
  taken: Deferred<boolean>;
}

/**
 * Writes a body of known length at the client's pace: one piece at a time, the
 * next one only when the socket took the last. A client that takes nothing for
 * `stallMs` loses its connection.
 */
export class BodyWriter {
  readonly #res: WritableResponse;
  readonly #length: number;
  readonly #stallMs: number;
  #waiting: Waiting | undefined;
  #stall: NodeJS.Timeout | undefined;
  #state: "open" | "complete" | "gone" = "open";

  constructor(res: WritableResponse, length: number, stallMs: number) {
    this.#res = res;
    this.#length = length;
    this.#stallMs = stallMs;
    res.onWritable((offset) => this.#writable(offset));
  }

  /** The last byte was handed over; the response must not be touched any more. */
  get complete(): boolean {
    return this.#state === "complete";
  }

  /** Resolves when the socket took the chunk: false when the client is gone. One at a time. */
  async write(chunk: Uint8Array): Promise<boolean> {
    if (this.#state !== "open") return false;
    const from = this.#res.getWriteOffset();
    if (from + chunk.byteLength > this.#length) {
      throw new Error("The source gave more bytes than it announced.");
    }
    if (this.#offer(chunk)) return true;
    const taken = createDeferred<boolean>();
    this.#waiting = { chunk, from, taken };
    this.#watch();
    return taken.promise;
  }

  /** The connection ended. */
  gone(): void {
    if (this.#state === "open") this.#state = "gone";
    this.#settle(false);
  }

  #offer(chunk: Uint8Array): boolean {
    let taken = false;
    let complete = false;
    this.#res.cork(() => {
      [taken, complete] = this.#res.tryEnd(chunk, this.#length);
    });
    if (complete) this.#state = "complete";
    return taken || complete;
  }

  #writable(offset: number): boolean {
    const waiting = this.#waiting;
    if (waiting === undefined) return true;
    const taken = this.#offer(waiting.chunk.subarray(offset - waiting.from));
    if (taken) this.#settle(true);
    else this.#watch();
    return taken;
  }

  #settle(taken: boolean): void {
    clearTimeout(this.#stall);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.taken.resolve(taken);
  }

  #watch(): void {
    clearTimeout(this.#stall);
    this.#stall = setTimeout(() => this.#res.close(), this.#stallMs);
  }
}
