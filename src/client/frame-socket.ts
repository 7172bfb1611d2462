import { parseFrames } from "./frames.ts";

/** Why a WebSocket is over: the close code, 1006 without one, and what was said with it. */
export class SocketClosed extends Error {
  readonly code: number;
  /** The reason that came with the code, or "". */
  readonly said: string;

  constructor(code: number, said: string) {
    super(said || `the connection was lost (${code})`);
    this.code = code;
    this.said = said;
  }
}

/** What browsers' WebSocket and the one of the package `ws` have in common. */
export interface RawSocket {
  readonly readyState: number;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number; reason: string }) => void) | null;
  onerror: ((event: object) => void) | null;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number): void;
  /** Of `ws`: ends it without waiting for the other end. */
  terminate?(): void;
}

/** Opens the WebSocket at a path of the interface, such as `/live`, in the caller's name. */
export type OpenSocket = (path: string, options: OpenOptions) => Promise<FrameSocket>;

export interface OpenOptions {
  readonly handshakeMs: number;
  readonly signal?: AbortSignal | undefined;
}

const OPEN = 1;
/** Text that waits to be taken, characters; a slower taker is cut off, and goes on where it was. */
const MOST_WAITING = 64 * 1024 * 1024;

/** An open WebSocket whose messages are taken one by one. */
export class FrameSocket {
  readonly #raw: RawSocket;
  #texts: string[] = [];
  #waiting = 0;
  #closed: SocketClosed | undefined;
  #isOver = false;
  #heardAt = performance.now();
  #wake: () => void = () => undefined;

  constructor(raw: RawSocket) {
    this.#raw = raw;
    raw.onmessage = ({ data }) => this.#take(String(data));
    raw.onclose = ({ code, reason }) => this.#close(code, String(reason));
    // Node tells of some broken connections by this alone.
    raw.onerror = () => this.#close(1006, "");
  }

  /** A sign of life that is no frame. */
  heard(): void {
    this.#heardAt = performance.now();
  }

  /**
   * The frames of the next message; undefined when nothing came for `ms`. Throws SocketClosed once
   * all that came before the end is taken, and the signal's reason when it is aborted meanwhile.
   */
  async next<F extends { type: string }>(
    ms: number,
    signal?: AbortSignal,
  ): Promise<readonly F[] | undefined> {
    for (;;) {
      signal?.throwIfAborted();
      const text = this.#texts.shift();
      if (text !== undefined) {
        this.#waiting -= text.length;
        return parseFrames<F>(text);
      }
      if (this.#closed !== undefined) throw this.#closed;
      const left = this.#heardAt + ms - performance.now();
      if (left <= 0) return undefined;
      await this.#wait(left, signal);
    }
  }

  /** False when the connection is over. */
  send(message: object | Uint8Array<ArrayBuffer>): boolean {
    if (this.#closed !== undefined || this.#raw.readyState !== OPEN) return false;
    this.#raw.send(message instanceof Uint8Array ? message : JSON.stringify(message));
    return true;
  }

  close(): void {
    this.#isOver = true;
    if (this.#raw.readyState === OPEN) this.#raw.close(1000);
    else this.drop();
  }

  /** Ends the connection as a failure of the network does. */
  drop(): void {
    if (this.#raw.terminate !== undefined) this.#raw.terminate();
    else this.#raw.close();
    this.#close(1006, "");
  }

  #take(text: string): void {
    this.heard();
    if (this.#isOver) return;
    this.#texts.push(text);
    this.#waiting += text.length;
    if (this.#waiting > MOST_WAITING) this.drop();
    this.#wake();
  }

  #close(code: number, reason: string): void {
    this.#closed ??= new SocketClosed(code, reason);
    this.#wake();
  }

  #wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener("abort", done, { once: true });
      this.#wake = done;
    });
  }
}
