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
import { ThreadSlot, type ThreadSlotOptions } from "./thread-slot.ts";

const MEMORY_CHECK_MS = 10_000;
/** Threads younger than this are not replaced to save memory, milliseconds. */
const MATURE_MS = 600_000;
/** Runs the threads for work on text. */
const TEXT_ENTRY = new URL("./text-thread-entry.ts", import.meta.url);
/**
 * A thread for text is silent while it loads dictionaries, for long where the processor has much else to
 * do; nobody speaks into it. Milliseconds.
 */
const TEXT_SILENCE_MS = 60_000;

export interface ThreadPoolOptions {
  /** Threads that hold sessions; half as many more work on text. */
  threads: number;
  sessionsPerThread: number;
  /** File that each thread for sessions runs. */
  entry: URL;
  /** File that each thread for text runs, ours when absent. */
  textEntry?: URL;
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

/**
 * Worker threads that hold sessions, each session on the thread with the fewest, and threads for work on
 * text: none waits for the other, and what hangs one leaves the other alone.
 */
export class ThreadPool implements QueueOwner {
  readonly #options: ThreadPoolOptions;
  readonly #slots: readonly ThreadSlot[];
  readonly #textSlots: readonly ThreadSlot[];
  #memoryWatch: NodeJS.Timeout | undefined;
  #refused = 0;

  constructor(options: ThreadPoolOptions) {
    this.#options = options;
    const { threads, entry, textEntry = TEXT_ENTRY, engines, silenceMs } = options;
    const settings = engines === undefined ? {} : { engines };
    this.#slots = Array.from({ length: threads }, (_, index) =>
      this.#createSlot(index, { entry, settings, silenceMs }),
    );
    this.#textSlots = Array.from({ length: Math.ceil(threads / 2) }, (_, index) =>
      this.#createSlot(threads + index, {
        ...{ entry: textEntry, settings: {}, silenceMs: TEXT_SILENCE_MS },
      }),
    );
  }

  #createSlot(
    index: number,
    kind: Pick<ThreadSlotOptions, "entry" | "settings" | "silenceMs">,
  ): ThreadSlot {
    const { connect, clock, log, readyMs, maxHeapBytes, moveAfterMs, onLoad } = this.#options;
    return new ThreadSlot({
      ...{ ...kind, index, connect, clock, log },
      readyMs: readyMs ?? 60_000,
      maxHeapBytes: maxHeapBytes ?? 1024 * 1024 * 1024,
      moveAfterMs: moveAfterMs ?? 120_000,
      onChange: () => onLoad?.(),
    });
  }

  /**
   * Resolves when each thread is ready or has failed; rejects with the first error when none for sessions
   * starts.
   */
  async start(): Promise<void> {
    const starts = this.#slots.map((slot) => slot.start());
    const all = [...starts, ...this.#textSlots.map((slot) => slot.start())];
    for (const start of all) start.catch(() => {});
    try {
      await Promise.any(starts);
    } catch (error) {
      const reason = error instanceof AggregateError ? error.errors[0] : error;
      await this.stop();
      throw reason;
    }
    await Promise.allSettled(all);
    this.#memoryWatch = setInterval(() => this.#checkMemory(), MEMORY_CHECK_MS);
    this.#memoryWatch.unref();
  }

  get sessions(): number {
    return this.#slots.reduce((sum, slot) => sum + slot.sessions, 0);
  }

  /** Number of running tasks on text. */
  get texts(): number {
    return this.#textSlots.reduce((sum, slot) => sum + slot.texts, 0);
  }

  /** Number of sessions that the ready threads can hold. */
  get capacity(): number {
    return this.#slots.filter((slot) => slot.isReady).length * this.#options.sessionsPerThread;
  }

  get queues(): readonly QueueFigures[] {
    const texts = longest(this.#textSlots.map((slot) => slot.texts));
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
   * Runs work on text on the least busy thread for it. Rejects with the task's own error, `overloaded`
   * when every thread has enough, `unavailable` when no thread is ready or the work was aborted.
   */
  async text(work: TextWork): Promise<void> {
    const [slot] = this.#textSlots
      .filter((candidate) => candidate.isReady)
      .sort((a, b) => Number(a.isGrown) - Number(b.isGrown) || a.load - b.load);
    if (slot === undefined) {
      throw new AppError("unavailable", "No thread for text is running at the moment.");
    }
    return slot.text(work);
  }

  async stop(): Promise<void> {
    clearInterval(this.#memoryWatch);
    await Promise.all([...this.#slots, ...this.#textSlots].map((slot) => slot.stop()));
  }

  #checkMemory(): void {
    const limit = this.#options.maxResidentBytes;
    if (limit === undefined) return;
    const resident = process.memoryUsage.rss();
    if (resident <= limit) return;
    const [slot] = [...this.#slots, ...this.#textSlots]
      .filter((candidate) => candidate.isReady && !candidate.isGrown)
      .filter((candidate) => candidate.age > MATURE_MS)
      .sort((a, b) => a.load - b.load);
    this.#options.log.warn({ resident, limit }, "worker memory is above its limit");
    slot?.retire();
  }
}
