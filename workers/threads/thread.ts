import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  Worker,
} from "node:worker_threads";
import { type Remote, transfer, wrap } from "comlink";
import type { Clock } from "../../src/base/clock.ts";
import { createDeferred, type Deferred, withTimeout } from "../../src/base/deferred.ts";
import { AppError, errorMessage } from "../../src/base/errors.ts";
import type { SpeechEngine } from "../../src/wire/speech-engines.ts";
import type { MissingEngine } from "../../src/wire/worker-announcement.ts";
import type { ReaderSettings } from "../speech/reader.ts";
import {
  type CallResult,
  type FeedResult,
  fromFault,
  type OpenedSession,
  type SessionBatch,
  type ThreadCalls,
  type ThreadData,
  type ThreadEvent,
  toEndpoint,
} from "./thread-protocol.ts";

const CHECK_MS = 1_000;
/** Time without a sign of life after which a thread counts as hung, milliseconds. */
const SILENCE_MS = 5_000;

interface ThreadOptions {
  /** File that the thread runs. */
  entry: URL;
  settings: ReaderSettings;
  /** Makes a connection to the inference threads; absent where no engine needs them. */
  connect?: (() => MessagePort) | undefined;
  clock: Clock;
  /** Time limit for the thread to become ready, milliseconds. */
  readyMs: number;
  /** Time without a sign of life after which the thread is ended, milliseconds. */
  silenceMs?: number;
  onEvent: (event: ThreadEvent) => void;
}

/**
 * A worker thread behind comlink, with features that comlink lacks: the caller learns when the
 * thread is ready, every call ends (by an answer, a time-out, or the thread's end), errors keep
 * their code, and a thread that gives no sign of life is ended.
 *
 * starting ─ready→ running ─exit | uncaught error | silence | end()→ ended
 */
export class Thread {
  /** Resolves once, with the reason, when the thread has ended. */
  readonly ended: Promise<AppError>;
  engines: readonly SpeechEngine[] = [];
  missing: readonly MissingEngine[] = [];
  readonly #options: ThreadOptions;
  readonly #worker: Worker;
  readonly #remote: Remote<ThreadCalls>;
  readonly #pending = new Set<Deferred<never>>();
  readonly #ready = createDeferred<readonly SpeechEngine[]>();
  readonly #ended = createDeferred<AppError>();
  readonly #silenceMs: number;
  #reason: AppError | undefined;
  #deadline: number;
  #watch: NodeJS.Timeout | undefined;

  /** Starts a thread and resolves when it is ready; rejects with the reason when it fails. */
  static async start(options: ThreadOptions): Promise<Thread> {
    const thread = new Thread(options);
    try {
      const ready = thread.#ready.promise;
      thread.engines = await withTimeout(ready, options.readyMs, "Starting a worker thread");
      thread.#startWatch();
      return thread;
    } catch (error) {
      thread.#end(error instanceof AppError ? error : endOf(errorMessage(error)));
      throw error;
    }
  }

  private constructor(options: ThreadOptions) {
    this.#options = options;
    this.#silenceMs = options.silenceMs ?? SILENCE_MS;
    this.ended = this.#ended.promise;
    const { port1, port2 } = new MessageChannel();
    const inference = options.connect?.();
    const settings = { ...options.settings, ...(inference && { inference }) };
    const workerData: ThreadData = { events: port2, settings };
    const transferList = inference === undefined ? [port2] : [port2, inference];
    this.#worker = new Worker(options.entry, { workerData, transferList, execArgv: [] });
    this.#remote = wrap<ThreadCalls>(toEndpoint(this.#worker));
    this.#deadline = options.clock.monotonic() + options.readyMs;
    this.#ready.promise.catch(() => {});
    port1.on("message", (event: ThreadEvent) => this.#onEvent(event));
    this.#worker.on("error", (error) => this.#end(endOf(errorMessage(error))));
    this.#worker.on("messageerror", (error) => this.#end(endOf(errorMessage(error))));
    this.#worker.on("exit", (code) => {
      // The exit may be reported before the thread's last messages, which contain the reason.
      for (let last = receiveMessageOnPort(port1); last; last = receiveMessageOnPort(port1)) {
        this.#onEvent(last.message as ThreadEvent);
      }
      this.#end(endOf(`exit code ${code}`));
      port1.close();
    });
  }

  get isAlive(): boolean {
    return this.#reason === undefined;
  }

  /**
   * Calls into the thread. Rejects with the thread's own error, `timeout` after `ms`, or
   * `worker_broken` when the thread ends first.
   */
  async call<T>(
    what: string,
    ms: number,
    invoke: (remote: Remote<ThreadCalls>) => Promise<CallResult<T>>,
  ): Promise<T> {
    if (this.#reason !== undefined) throw this.#reason;
    const abandoned = createDeferred<never>();
    this.#pending.add(abandoned);
    try {
      const answer = Promise.race([invoke(this.#remote), abandoned.promise]);
      const result = await withTimeout(answer, ms, what);
      if (!result.ok) throw fromFault(result.fault);
      return result.value;
    } finally {
      this.#pending.delete(abandoned);
    }
  }

  /** Ends the thread now; native memory that it holds stays with the process. */
  end(reason: AppError): void {
    this.#end(reason);
  }

  #onEvent(event: ThreadEvent): void {
    if (this.#reason !== undefined) return;
    const now = this.#options.clock.monotonic();
    // A beat sets the deadline; any other message can only extend it.
    if (event.kind === "beat") this.#deadline = now + Math.max(event.allowanceMs, this.#silenceMs);
    else this.#deadline = Math.max(this.#deadline, now + this.#silenceMs);
    if (event.kind === "ready") {
      this.missing = event.missing;
      this.#ready.resolve(event.engines);
    } else if (event.kind === "broken") this.#ready.reject(fromFault(event.fault));
    this.#options.onEvent(event);
  }

  #startWatch(): void {
    if (this.#reason !== undefined) return;
    let last = this.#options.clock.monotonic();
    this.#deadline = last + this.#silenceMs;
    this.#watch = setInterval(() => {
      const now = this.#options.clock.monotonic();
      const late = now - last > CHECK_MS * 2;
      last = now;
      // When this process itself was stalled, messages may wait unread, so the next check decides.
      if (!late && now > this.#deadline) this.#end(endOf("no sign of life"));
    }, CHECK_MS);
  }

  #end(reason: AppError): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    clearInterval(this.#watch);
    this.#ready.reject(reason);
    for (const pending of this.#pending) pending.reject(reason);
    this.#pending.clear();
    // Not awaited: native code cannot be interrupted, and nothing should wait for it.
    this.#worker.terminate().catch(() => {});
    this.#worker.unref();
    this.#ended.resolve(reason);
  }
}

function endOf(cause: string): AppError {
  return new AppError(
    "worker_broken",
    `A worker thread ended (${cause}). Read on from the last checkpoint.`,
  );
}

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
