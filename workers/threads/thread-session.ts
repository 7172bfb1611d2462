import { transfer } from "comlink";
import type { AppError } from "../../src/base/errors.ts";
import type { Thread } from "./thread.ts";
import type { FeedResult, OpenedSession, SessionBatch } from "./thread-protocol.ts";

/** The listener of a session of the pool. */
export interface SessionSink {
  onBatch(batch: SessionBatch): void;
  /** Called once, when the session or its thread has failed; no batches follow. */
  onFailed(error: AppError): void;
}

interface ThreadSessionOptions {
  id: number;
  thread: Thread;
  opened: OpenedSession;
  /** Removes the session from its thread's list. */
  release: () => void;
}

const CALL_MS = 60_000;

export class ThreadSession {
  readonly opened: OpenedSession;
  readonly #id: number;
  readonly #thread: Thread;
  readonly #release: () => void;
  #closed = false;

  constructor(options: ThreadSessionOptions) {
    this.opened = options.opened;
    this.#id = options.id;
    this.#thread = options.thread;
    this.#release = options.release;
  }

  /** Sends an encoded TranscribeRequest; its memory moves to the thread. */
  feed(request: Uint8Array): Promise<FeedResult> {
    const owned = toOwned(request);
    return this.#thread.call("Handing audio to a recognition thread", CALL_MS, (remote) =>
      remote.feed(this.#id, transfer(owned, [owned.buffer])),
    );
  }

  /** Holds or continues the session. Best effort: a thread that has ended holds nothing. */
  hold(held: boolean): void {
    this.#thread
      .call("Holding a session", CALL_MS, (remote) => remote.hold(this.#id, held))
      .catch(() => {});
  }

  /** Closes the session; repeatable. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#release();
    this.#thread
      .call("Closing a session", CALL_MS, (remote) => remote.close(this.#id))
      .catch(() => {});
  }
}

/**
 * Copies bytes into a separate buffer if needed: a view into a shared pool must not be transferred.
 */
export function toOwned(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes;
  if (buffer instanceof ArrayBuffer && bytes.byteLength === buffer.byteLength) {
    return new Uint8Array(buffer);
  }
  return new Uint8Array(bytes);
}
