import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { createDeferred, type Deferred, withTimeout } from "../../../base/deferred.ts";
import { AppError, isAppError } from "../../../base/errors.ts";
import { newId } from "../../../base/ids.ts";
import type { QueueFigures } from "../../../base/queue-metrics.ts";
import { type Runtime, systemRuntime } from "../../../base/runtime.ts";
import type { DiskState } from "./audio-watch.ts";
import type { FileContent, LogPath } from "./file-writes.ts";
import type {
  FileWrite,
  LogAppend,
  WriterAnswer,
  WriterOrder,
  WriterRequest,
} from "./writer-service.ts";

const ENTRY = new URL("./blob-thread.ts", import.meta.url);

/** Most files that may wait or be under way: more than uploads and streams that end at once. */
const MOST_FILES = 4_096;
/** How long a caller waits; less than requests may take, so that it is told why. */
const WRITE_MS = 25_000;
/** Seconds after which a caller whose time is over may ask again. */
const RETRY_AFTER = 5;

interface NewFile {
  folder: string;
  /** Path relative to the folder. */
  name: string;
  /** What is received is taken over. */
  content: FileContent;
}

/** A file that waits for its turn or is being written, and who waits for it. */
interface Job {
  readonly path: string;
  readonly callers: Map<Deferred<void>, NewFile>;
  /** Set once it is being written. */
  id?: number;
}

/** Port: the thread that writes. */
interface WriterThread {
  /** @param transfer buffers that the thread takes over */
  post(request: WriterRequest, transfer: ArrayBuffer[]): void;
  stop(): Promise<unknown>;
}

export interface WriterEvents {
  onAnswer(answer: WriterAnswer): void;
  /** Called once when nothing more is answered; with the error if there was one. */
  onEnd(cause: Error | undefined): void;
}

interface BlobWriterOptions {
  /** Holds the folders; its own name must be durable. */
  base: string;
  temporaryFolder: string;
  /** Most flushes at the same time; by default what the process's threads allow. */
  flushes?: number;
  runtime?: Pick<Runtime, "after">;
  start?(order: { base: string; flushes: number }, events: WriterEvents): WriterThread;
}

/**
 * Writes files durably in a separate thread, so that a busy disk delays nothing else. Each caller is
 * answered when its own file is durable. How many files are under way follows the time that the
 * disk takes; the others wait here, and those that are not begun when their time is over never are.
 * A file that is under way is written on although its callers have left, and who brings it again
 * waits for that one. The thread starts with the first file, and again after it ended.
 */
export class BlobWriter {
  readonly #options: Required<BlobWriterOptions>;
  readonly #pace: FlushPace;
  /** By path, in the order in which they came. */
  readonly #jobs = new Map<string, Job>();
  readonly #underWay = new Map<number, Job>();
  readonly #probes = new Map<number, Deferred<DiskState>>();
  /** Entries of logs that are under way, and those that go to the thread in this turn. */
  readonly #appends = new Map<number, Deferred<void>>();
  #entries: { entry: LogAppend; bytes: Uint8Array }[] = [];
  #thread: WriterThread | undefined;
  #requests = 0;
  #refused = 0;
  #isPlanned = false;

  constructor(options: BlobWriterOptions) {
    const flushes = flushesAtOnce(process.env);
    this.#options = { runtime: systemRuntime, start: startWriterThread, flushes, ...options };
    this.#pace = new FlushPace(this.#options.flushes);
  }

  figures(queue: string): QueueFigures {
    return { queue, length: this.#jobs.size, limit: MOST_FILES, refused: this.#refused };
  }

  /**
   * Writes a file. On return its bytes and its name survive a power failure; an existing file of
   * that name stays. Rejects with the file system's error, including its `code`; with `overloaded`
   * when too many wait, or more than the disk can take in time; with `timeout` when it took too long.
   */
  async write(file: NewFile): Promise<void> {
    const path = join(file.folder, file.name);
    const job = this.#jobs.get(path) ?? this.#begin(path);
    const done = createDeferred<void>();
    job.callers.set(done, file);
    try {
      await withTimeout(done.promise, WRITE_MS, "Storing audio", this.#options.runtime);
    } catch (error) {
      if (!isAppError(error, "timeout")) throw error;
      this.#leave(job, done);
      const message = "The audio could not be stored in time. Please try again.";
      throw new AppError("timeout", message, { cause: error, retryAfter: RETRY_AFTER });
    }
  }

  /**
   * Writes an entry into a file that grows, and which nobody else writes; durable on return, and at most
   * one at a time for each file. Rejects with the file system's error, and with `overloaded`.
   */
  append(place: LogPath, at: number, bytes: Uint8Array): Promise<void> {
    if (this.#appends.size >= MOST_FILES) {
      this.#refused += 1;
      throw new AppError("overloaded", "Too much audio waits to be stored. Please try again.");
    }
    const id = this.#nextId();
    const done = createDeferred<void>();
    this.#appends.set(id, done);
    this.#entries.push({ entry: { id, ...place, at, length: bytes.byteLength }, bytes });
    this.#plan();
    return done.promise;
  }

  /** Writes a small file durably, and removes it; takes as long as the disk does. */
  probe(): Promise<DiskState> {
    const id = this.#nextId();
    const state = createDeferred<DiskState>();
    this.#probes.set(id, state);
    const path = join(this.#options.temporaryFolder, newId());
    this.#running().post({ kind: "probe", id, path }, []);
    return state.promise;
  }

  /** Ends the thread; unfinished writes are rejected. */
  async stop(): Promise<void> {
    for (const job of this.#jobs.values()) {
      if (job.id === undefined) this.#settle(job, ({ reject }) => reject(ended(undefined)));
    }
    await this.#thread?.stop();
  }

  /** Throws `overloaded`. */
  #begin(path: string): Job {
    const expectedMs = this.#pace.expectedMs(this.#jobs.size);
    if (this.#jobs.size >= MOST_FILES || expectedMs > WRITE_MS) {
      this.#refused += 1;
      throw new AppError("overloaded", "Too much audio waits to be stored. Please try again.", {
        retryAfter: Math.min(60, RETRY_AFTER + (expectedMs - WRITE_MS) / 1_000),
      });
    }
    const job: Job = { path, callers: new Map() };
    this.#jobs.set(path, job);
    this.#plan();
    return job;
  }

  #leave(job: Job, caller: Deferred<void>): void {
    job.callers.delete(caller);
    if (job.callers.size === 0 && job.id === undefined) this.#jobs.delete(job.path);
  }

  /** Files that come in the same turn go to the thread together. */
  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    queueMicrotask(() => {
      this.#isPlanned = false;
      this.#postEntries();
      this.#post();
    });
  }

  #postEntries(): void {
    if (this.#entries.length === 0) return;
    const bytes = joined(this.#entries.map((each) => each.bytes));
    const entries = this.#entries.map(({ entry }) => entry);
    this.#entries = [];
    this.#running().post({ kind: "append", entries, bytes }, [bytes.buffer]);
  }

  #post(): void {
    const files: FileWrite[] = [];
    const parts: Uint8Array[] = [];
    for (const job of this.#jobs.values()) {
      if (this.#underWay.size >= this.#pace.files) break;
      const [file] = job.callers.values();
      if (job.id !== undefined || file === undefined) continue;
      const { folder, content } = file;
      job.id = this.#nextId();
      this.#underWay.set(job.id, job);
      const temporary = join(this.#options.temporaryFolder, newId());
      const place = { id: job.id, temporary, folder, path: job.path };
      if (typeof content === "string") files.push({ ...place, content: { received: content } });
      else {
        files.push({ ...place, content: { length: content.byteLength } });
        parts.push(content);
      }
    }
    if (files.length === 0) return;
    const bytes = joined(parts);
    this.#running().post({ kind: "write", files, bytes }, [bytes.buffer]);
  }

  #nextId(): number {
    this.#requests += 1;
    return this.#requests;
  }

  #running(): WriterThread {
    if (this.#thread !== undefined) return this.#thread;
    const { base, flushes, start } = this.#options;
    const thread = start(
      { base, flushes },
      {
        onAnswer: (answer) => this.#answered(answer),
        onEnd: (cause) => this.#ended(thread, cause),
      },
    );
    this.#thread = thread;
    return thread;
  }

  #answered(answer: WriterAnswer): void {
    if (answer.kind === "probed") {
      this.#probes.get(answer.id)?.resolve(answer.state);
      this.#probes.delete(answer.id);
      return;
    }
    const append = this.#appends.get(answer.id);
    if (append !== undefined) {
      this.#appends.delete(answer.id);
      if (answer.kind === "failed") append.reject(reasonOf(answer));
      else append.resolve();
      return;
    }
    const job = this.#underWay.get(answer.id);
    if (job === undefined || answer.kind === "appended") return;
    if (answer.kind === "durable") {
      this.#pace.measured(answer.flushMs);
      this.#settle(job, ({ resolve }) => resolve());
    } else {
      this.#settle(job, ({ reject }) => reject(reasonOf(answer)));
    }
    this.#plan();
  }

  #settle(job: Job, settle: (caller: Deferred<void>) => void): void {
    this.#jobs.delete(job.path);
    if (job.id !== undefined) this.#underWay.delete(job.id);
    for (const caller of job.callers.keys()) settle(caller);
  }

  #ended(thread: WriterThread, cause: Error | undefined): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    const reason = ended(cause);
    for (const job of [...this.#underWay.values()]) {
      this.#settle(job, ({ reject }) => reject(reason));
    }
    for (const { reject } of this.#probes.values()) reject(reason);
    this.#probes.clear();
    for (const { reject } of this.#appends.values()) reject(reason);
    this.#appends.clear();
    this.#entries = [];
    this.#plan();
  }
}

function reasonOf({ message, errno }: { message: string; errno: string | undefined }): Error {
  return Object.assign(new Error(message), { code: errno });
}

function ended(cause: Error | undefined): AppError {
  const message = "Audio cannot be stored just now. Please try again.";
  return new AppError("unavailable", message, { cause, retryAfter: 1 });
}

/** Copies all into one buffer, whose memory can be transferred to the thread. */
function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const length = parts.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const all = new Uint8Array(new ArrayBuffer(length));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.byteLength;
  }
  return all;
}

/** Starts the thread; it does not keep the process running. */
function startWriterThread(order: WriterOrder, events: WriterEvents): WriterThread {
  const execArgv = ["--disable-warning=ExperimentalWarning"];
  const thread = new Worker(ENTRY, { execArgv, workerData: order });
  let cause: Error | undefined;
  thread.unref();
  thread.on("message", (answer: WriterAnswer) => events.onAnswer(answer));
  thread.on("error", (error) => {
    cause = error;
  });
  thread.on("exit", () => events.onEnd(cause));
  return {
    post: (request, transfer) => thread.postMessage(request, transfer),
    stop: () => thread.terminate(),
  };
}

/** Of Node's threads for files and cryptography, by default. */
const THREADS = 4;
/** Threads that flushes leave to everything else in the process: files, names of hosts, signatures. */
const LEFT_FREE = 4;
const MOST_FLUSHES = 8;
/** Most files that are under way. */
const MOST_UNDER_WAY = 64;
/** Flushes of a file: its bytes, its folder, and a share of those of the base folder. */
const FLUSHES_A_FILE = 2.25;
/** What is under way should be durable within this time, milliseconds. */
const UNDER_WAY_MS = 10_000;
/** Weight of the newest measurement. */
const WEIGHT = 0.25;

/**
 * How many flushes may run at once, by the number of threads that Node has for such work. A disk that
 * hangs keeps as many of them, and the process needs others.
 */
export function flushesAtOnce(env: NodeJS.ProcessEnv): number {
  const threads = Number(env.UV_THREADPOOL_SIZE) || THREADS;
  return Math.min(MOST_FLUSHES, Math.max(2, threads - LEFT_FREE));
}

/** How many files may be under way, and how long others wait, by the measured time of flushes. */
export class FlushPace {
  readonly #atOnce: number;
  #flushMs: number | undefined;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** @param ms how long one flush took */
  measured(ms: number): void {
    const before = this.#flushMs;
    this.#flushMs = before === undefined ? ms : before + (ms - before) * WEIGHT;
  }

  /**
   * Most files under way: as many as become durable in some seconds. At least as many as take no
   * longer together than one alone, and no more than those before anything is measured.
   */
  get files(): number {
    const least = this.#atOnce - 1;
    if (this.#flushMs === undefined) return least;
    const many = Math.floor(UNDER_WAY_MS / this.#msPerFile);
    return Math.max(least, Math.min(MOST_UNDER_WAY, many));
  }

  /** How long the next file is expected to take behind so many others, milliseconds. */
  expectedMs(ahead: number): number {
    return ahead < this.#atOnce ? 0 : ahead * this.#msPerFile + 2 * (this.#flushMs ?? 0);
  }

  get #msPerFile(): number {
    return ((this.#flushMs ?? 0) * FLUSHES_A_FILE) / this.#atOnce;
  }
}
