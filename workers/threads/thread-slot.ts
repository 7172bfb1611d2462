import type { MessagePort } from "node:worker_threads";
import { transfer } from "comlink";
import { backOff } from "../../src/base/back-off.ts";
import type { Clock } from "../../src/base/clock.ts";
import { createDeferred, delay } from "../../src/base/deferred.ts";
import { AppError, errorMessage } from "../../src/base/errors.ts";
import type { Log } from "../../src/base/log.ts";
import type { SpeechEngine } from "../../src/wire/speech-engines.ts";
import type { MissingEngine } from "../../src/wire/worker-announcement.ts";
import type { ReaderSettings } from "../speech/reader.ts";
import { TextCalls, type TextWork } from "./text-calls.ts";
import { type SessionSink, Thread, ThreadSession, toOwned } from "./thread.ts";
import { fromFault, type OpenedSession, type ThreadEvent } from "./thread-protocol.ts";

interface BackOffOptions {
  clock: Clock;
  firstMs: number;
  maxMs: number;
  /** A run of at least this length, milliseconds, resets the number of failures. */
  healthyMs: number;
}

/** Waits between restarts; they double, and are reset after a healthy run. */
export class BackOff {
  readonly #options: BackOffOptions;
  #failures = 0;
  #startedAt: number;

  constructor(options: BackOffOptions) {
    this.#options = options;
    this.#startedAt = options.clock.monotonic();
  }

  started(): void {
    this.#startedAt = this.#options.clock.monotonic();
  }

  /** The wait after the run that has just failed, milliseconds. */
  next(): number {
    const { clock, firstMs, maxMs, healthyMs } = this.#options;
    if (clock.monotonic() - this.#startedAt >= healthyMs) this.#failures = 0;
    this.#failures += 1;
    return backOff(this.#failures, { firstMs, mostMs: maxMs });
  }
}

const OPEN_MS = 30_000;
const DISPOSE_MS = 5_000;

export interface ThreadSlotOptions {
  /** Among all threads of the process, for the log. */
  index: number;
  /** File that the thread runs. */
  entry: URL;
  settings: ReaderSettings;
  connect?: (() => MessagePort) | undefined;
  clock: Clock;
  log: Log;
  readyMs: number;
  /** Time without a sign of life after which the thread is replaced, milliseconds; the thread's own limit when absent. */
  silenceMs?: number | undefined;
  /** V8 memory of the thread, in bytes, beyond which it is replaced when idle. */
  maxHeapBytes: number;
  /** How long a thread that has grown may keep its sessions, milliseconds. */
  moveAfterMs: number;
  /** Called when readiness or the number of sessions has changed. */
  onChange: () => void;
}

/** Keeps one thread running: starts it, and replaces it when it dies, hangs or has grown. */
export class ThreadSlot {
  readonly #options: ThreadSlotOptions;
  readonly #log: Log;
  readonly #sinks = new Map<number, SessionSink>();
  readonly #texts = new TextCalls(() => this.#recycleWhenIdle());
  readonly #stopping = new AbortController();
  readonly #backOff: BackOff;
  #thread: Thread | undefined;
  #running: Promise<void> = Promise.resolve();
  #nextId = 1;
  #grown = false;
  #recycling = false;
  #startedAt = 0;
  #move: NodeJS.Timeout | undefined;

  constructor(options: ThreadSlotOptions) {
    this.#options = options;
    this.#log = options.log.child({ thread: options.index });
    const { clock } = options;
    this.#backOff = new BackOff({ clock, firstMs: 200, maxMs: 10_000, healthyMs: 60_000 });
  }

  /**
   * Resolves or rejects when the first thread is ready or has failed; restarts continue in both
   * cases.
   */
  start(): Promise<void> {
    const first = createDeferred<void>();
    this.#running = this.#run(first.resolve, first.reject);
    return first.promise;
  }

  get isReady(): boolean {
    return this.#thread?.isAlive === true && !this.#recycling;
  }

  /** True when the thread waits for its replacement and should get new sessions last. */
  get isGrown(): boolean {
    return this.#grown;
  }

  /** Age of the thread, milliseconds. */
  get age(): number {
    return this.#thread === undefined ? 0 : this.#options.clock.monotonic() - this.#startedAt;
  }

  get sessions(): number {
    return this.#sinks.size;
  }

  get texts(): number {
    return this.#texts.size;
  }

  /** Number of sessions and texts of the thread. */
  get load(): number {
    return this.#sinks.size + this.#texts.size;
  }

  get engines(): readonly SpeechEngine[] {
    return this.#thread?.engines ?? [];
  }

  get missing(): readonly MissingEngine[] {
    return this.#thread?.missing ?? [];
  }

  /**
   * Replaces the thread as soon as it holds no session; sessions that it still holds after
   * `moveAfterMs` are ended and must continue elsewhere.
   */
  retire(): void {
    this.#grown = true;
    this.#move ??= setTimeout(() => this.#moveSessions(), this.#options.moveAfterMs);
    this.#recycleWhenIdle();
  }

  /** Rejects with the reader's error, or `unavailable`. */
  async open(request: Uint8Array, sink: SessionSink): Promise<ThreadSession> {
    const thread = this.#thread;
    if (thread === undefined || !this.isReady) {
      throw new AppError("unavailable", "The recognition thread is being restarted.");
    }
    const id = this.#nextId;
    this.#nextId += 1;
    this.#sinks.set(id, sink);
    this.#options.onChange();
    const release = (): void => this.#release(id);
    try {
      const owned = toOwned(request);
      const opened = await thread.call<OpenedSession>("Opening a session", OPEN_MS, (remote) =>
        remote.open(id, transfer(owned, [owned.buffer])),
      );
      return new ThreadSession({ id, thread, opened, release });
    } catch (error) {
      release();
      thread.call("Closing a session", OPEN_MS, (remote) => remote.close(id)).catch(() => {});
      throw error;
    }
  }

  /** Rejects with the task's own error, or `unavailable`. */
  async text(work: TextWork): Promise<void> {
    const thread = this.#thread;
    if (thread === undefined || !this.isReady) {
      throw new AppError("unavailable", "The thread is being restarted.");
    }
    await this.#texts.run(thread, work);
  }

  /** Ends the thread and fails the sessions and texts that it holds. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#dispose("The worker is stopping.");
    await this.#running;
  }

  async #run(onFirst: () => void, onFirstFailed: (error: unknown) => void): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      this.#backOff.started();
      try {
        await this.#runOnce(onFirst);
      } catch (error) {
        onFirstFailed(error);
        this.#log.error({ error: errorMessage(error) }, "worker thread did not start");
      }
      if (signal.aborted) return;
      const waitMs = this.#recycling ? 0 : this.#backOff.next();
      this.#recycling = false;
      await delay(waitMs, signal);
    }
  }

  async #runOnce(onReady: () => void): Promise<void> {
    const { entry, settings, connect, clock, readyMs, silenceMs } = this.#options;
    const onEvent = (event: ThreadEvent): void => this.#onEvent(event);
    const thread = await Thread.start({
      ...{ entry, settings, connect, clock, readyMs, silenceMs, onEvent },
    });
    this.#grown = false;
    this.#startedAt = clock.monotonic();
    if (this.#stopping.signal.aborted) {
      thread.end(new AppError("unavailable", "The worker is stopping."));
      return;
    }
    this.#thread = thread;
    onReady();
    this.#options.onChange();
    const reason = await thread.ended;
    this.#thread = undefined;
    clearTimeout(this.#move);
    this.#move = undefined;
    if (!this.#stopping.signal.aborted && !this.#recycling) {
      this.#log.error({ error: reason.message, sessions: this.sessions }, "worker thread lost");
    }
    this.#failSessions(reason);
    this.#texts.fail(reason);
    this.#options.onChange();
  }

  #onEvent(event: ThreadEvent): void {
    if (event.kind === "results") {
      for (const batch of event.batches) this.#sinks.get(batch.session)?.onBatch(batch);
    } else if (event.kind === "session-failed") {
      const sink = this.#sinks.get(event.session);
      this.#release(event.session);
      sink?.onFailed(fromFault(event.fault));
    } else if (event.kind === "beat" && event.heapBytes > this.#options.maxHeapBytes) {
      if (!this.#grown) this.#log.warn({ bytes: event.heapBytes }, "thread memory has grown");
      this.retire();
    } else this.#texts.onEvent(event);
  }

  #release(id: number): void {
    if (!this.#sinks.delete(id)) return;
    this.#options.onChange();
    this.#recycleWhenIdle();
  }

  #failSessions(reason: AppError): void {
    const sinks = [...this.#sinks.values()];
    this.#sinks.clear();
    for (const sink of sinks) sink.onFailed(reason);
  }

  #moveSessions(): void {
    const { sessions } = this;
    if (sessions > 0) this.#log.info({ sessions }, "moving sessions off a thread that has grown");
    this.#failSessions(
      new AppError(
        "unavailable",
        "The thread is being replaced. Read on from the last checkpoint.",
      ),
    );
    this.#options.onChange();
    this.#recycleWhenIdle();
  }

  #recycleWhenIdle(): void {
    if (!this.#grown || this.#recycling || this.load > 0 || this.#thread === undefined) return;
    this.#recycling = true;
    this.#log.info({}, "replacing a worker thread that has grown");
    this.#dispose("The thread is being replaced.").catch(() => {});
  }

  /** Lets the thread free native memory, then ends it. */
  async #dispose(why: string): Promise<void> {
    const thread = this.#thread;
    if (thread === undefined) return;
    try {
      await thread.call("Freeing a thread", DISPOSE_MS, (remote) => remote.dispose());
    } catch (error) {
      this.#log.warn({ error: errorMessage(error) }, "worker thread did not free its memory");
    }
    thread.end(new AppError("unavailable", why));
  }
}
