import type { HttpResponse } from "uWebSockets.js";
import { createDeferred, type Deferred } from "../../base/deferred.ts";

/** The part of a response that the writer uses; `close` must lead to `gone`. */
type WritableResponse = Pick<HttpResponse, "cork" | "write" | "end" | "onWritable" | "close">;

/**
 * Writes a text of unknown length in chunks, each as soon as it is there. The next one is taken when
 * the socket has room again; a client that makes none for `stallMs` loses its connection.
 */
export class TextWriter {
  readonly #res: WritableResponse;
  readonly #stallMs: number;
  #waiting: Deferred<boolean> | undefined;
  #stall: NodeJS.Timeout | undefined;
  #state: "open" | "complete" | "gone" = "open";

  constructor(res: WritableResponse, stallMs: number) {
    this.#res = res;
    this.#stallMs = stallMs;
    res.onWritable(() => {
      this.#settle(true);
      return true;
    });
  }

  /** True when the end was written; the response must not be touched any more. */
  get complete(): boolean {
    return this.#state === "complete";
  }

  /** Resolves with true when the socket has room again, false when the client has disconnected. */
  async write(text: string): Promise<boolean> {
    if (this.#state !== "open") return false;
    let hasRoom = false;
    this.#res.cork(() => {
      hasRoom = this.#res.write(text);
    });
    if (hasRoom) return true;
    this.#waiting = createDeferred<boolean>();
    this.#stall = setTimeout(() => this.#res.close(), this.#stallMs);
    return this.#waiting.promise;
  }

  /** Told to close, uWebSockets.js would write a header here, into the body. */
  end(): void {
    if (this.#state !== "open") return;
    this.#state = "complete";
    this.#res.cork(() => this.#res.end(""));
  }

  /** The connection ended. */
  gone(): void {
    if (this.#state === "open") this.#state = "gone";
    this.#settle(false);
  }

  #settle(hasRoom: boolean): void {
    clearTimeout(this.#stall);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve(hasRoom);
  }
}
