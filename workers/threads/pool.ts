import type { MessagePort } from "node:worker_threads";
import type { Clock } from "../../src/base/clock.ts";
import { AppError } from "../../src/base/errors.ts";
import type { Log } from "../../src/base/log.ts";
import { longest, type QueueFigures, type QueueOwner } from "../../src/base/queue-metrics.ts";
import type { SpeechEngine } from "../../src/wire/speech-engines.ts";
import type { MissingEngine } from "../../src/wire/worker-announcement.ts";
import type { EngineSettings } from "../speech/engine-schemas.ts";
import type { TextWork } from "./text-calls.ts";
import type { SessionSink, ThreadSession } from "./thread.ts";
import { MAX_TEXTS } from "./thread-protocol.ts";
import { ThreadSlot } from "./thread-slot.ts";

const MEMORY_CHECK_MS = 10_000;
/** Threads younger than this are not replaced to save memory, milliseconds. */
const MATURE_MS = 600_000;

export interface ThreadPoolOptions {
  threads: number;
  sessionsPerThread: number;
  /** File that each thread runs. */
  entry: URL;
  /** Makes a connection to the inference threads; absent where nothing is read here. */
  connect?: () => MessagePort;
  /** The engines of every thread; Moonshine alone when absent. */
  engines?: readonly EngineSettings[];
  /** Engines that were found to be unusable before. */
  unusable?: readonly MissingEngine[];
  clock: Clock;
  log: Log;
  readyMs?: number;
  silenceMs?: number;
  maxHeapBytes?: number;
  /** How long a thread that has grown may keep its sessions, milliseconds. */
  moveAfterMs?: number;
  /** Resident memory of the process, in bytes, beyond which idle threads are replaced. */
  maxResidentBytes?: number;
  /** Called at every change of load or capacity. */
  onLoad?: () => void;
}

/** Worker threads that hold sessions; each session goes to the thread with the fewest. */
export class ThreadPool implements QueueOwner {
  readonly #options: ThreadPoolOptions;
  readonly #slots: ThreadSlot[] = [];
  #memoryWatch: NodeJS.Timeout | undefined;
  #refused = 0;

  constructor(options: ThreadPoolOptions) {
    this.#options = options;
    const { entry, clock, log, silenceMs } = options;
    for (let index = 0; index < options.threads; index += 1) {
      this.#slots.push(
        new ThreadSlot({
          index,
          entry,
          clock,
          log,
          silenceMs,
          connect: options.connect,
          settings: {
            ...(options.engines === undefined ? {} : { engines: options.engines }),
          },
          readyMs: options.readyMs ?? 60_000,
          maxHeapBytes: options.maxHeapBytes ?? 1024 * 1024 * 1024,
          moveAfterMs: options.moveAfterMs ?? 120_000,
          onChange: () => options.onLoad?.(),
        }),
      );
    }
  }

  /** Resolves when at least one thread is ready; rejects with the first error when none starts. */
  async start(): Promise<void> {
    const starts = this.#slots.map((slot) => slot.start());
    for (const start of starts) start.catch(() => {});
    try {
      await Promise.any(starts);
    } catch (error) {
      const reason = error instanceof AggregateError ? error.errors[0] : error;
      await this.stop();
      throw reason;
    }
    await Promise.allSettled(starts);
    this.#memoryWatch = setInterval(() => this.#checkMemory(), MEMORY_CHECK_MS);
    this.#memoryWatch.unref();
  }

  get sessions(): number {
    return this.#slots.reduce((sum, slot) => sum + slot.sessions, 0);
  }

  /** Number of running tasks on text. */
  get texts(): number {
    return this.#slots.reduce((sum, slot) => sum + slot.texts, 0);
  }

  /** Number of sessions that the ready threads can hold. */
  get capacity(): number {
    return this.#slots.filter((slot) => slot.isReady).length * this.#options.sessionsPerThread;
  }

  get queues(): readonly QueueFigures[] {
    const texts = longest(this.#slots.map((slot) => slot.texts));
    return [
      { queue: "sessions", length: this.sessions, limit: this.capacity, refused: this.#refused },
      { queue: "texts", length: texts, limit: MAX_TEXTS, refused: 0 },
    ];
  }

  /** The engines of all threads, each once. */
  get engines(): readonly SpeechEngine[] {
    const all = this.#slots.flatMap((slot) => slot.engines);
    return [...new Map(all.map((engine) => [engine.name, engine])).values()];
  }

  /** Engines that are configured and cannot be used, each once. */
  get missing(): readonly MissingEngine[] {
    const found = this.#slots.flatMap((slot) => slot.missing);
    const all = [...(this.#options.unusable ?? []), ...found];
    return [...new Map(all.map((each) => [each.name, each])).values()];
  }

  /**
   * Opens a session; `request` is an encoded Open. Rejects with `overloaded` when full,
   * `unavailable` when no thread is ready.
   */
  async open(request: Uint8Array, sink: SessionSink): Promise<ThreadSession> {
    const ready = this.#slots.filter((slot) => slot.isReady);
    if (ready.length === 0) {
      throw new AppError("unavailable", "No recognition thread is running at the moment.");
    }
    const [slot] = ready
      .filter((candidate) => candidate.sessions < this.#options.sessionsPerThread)
      .sort((a, b) => Number(a.isGrown) - Number(b.isGrown) || a.sessions - b.sessions);
    if (slot === undefined) {
      this.#refused += 1;
      throw new AppError("overloaded", `All ${this.capacity} sessions of this worker are in use.`);
    }
    return slot.open(request, sink);
  }

  /**
   * Runs work on text on the least busy thread; it does not count as a session. Rejects with the
   * task's own error, `overloaded` when every thread has enough, `unavailable` when no thread is
   * ready or the work was aborted.
   */
  async text(work: TextWork): Promise<void> {
    const [slot] = this.#slots
      .filter((candidate) => candidate.isReady)
      .sort((a, b) => Number(a.isGrown) - Number(b.isGrown) || a.load - b.load);
    if (slot === undefined) {
      throw new AppError("unavailable", "No thread is running at the moment.");
    }
    return slot.text(work);
  }

  async stop(): Promise<void> {
    clearInterval(this.#memoryWatch);
    await Promise.all(this.#slots.map((slot) => slot.stop()));
  }

  #checkMemory(): void {
    const limit = this.#options.maxResidentBytes;
    if (limit === undefined) return;
    const resident = process.memoryUsage.rss();
    if (resident <= limit) return;
    const [slot] = this.#slots
      .filter((candidate) => candidate.isReady && !candidate.isGrown)
      .filter((candidate) => candidate.age > MATURE_MS)
      .sort((a, b) => a.sessions - b.sessions);
    this.#options.log.warn({ resident, limit }, "worker memory is above its limit");
    slot?.retire();
  }
}
