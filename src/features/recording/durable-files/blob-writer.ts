import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { createDeferred, type Deferred, withTimeout } from "../../../base/deferred.ts";
import { AppError } from "../../../base/errors.ts";
import { newId } from "../../../base/ids.ts";
import type { QueueFigures } from "../../../base/queue-metrics.ts";
import { GroupCommit } from "../../../postgres/group-commit.ts";
import type { DiskState } from "./audio-watch.ts";
import type {
  FileWrite,
  ProbeAnswer,
  ProbeRequest,
  WriteAnswer,
  WriteRequest,
} from "./blob-thread.ts";

const ENTRY = new URL("./blob-thread.ts", import.meta.url);
/** Most files that are written together. */
const MAX_GROUP = 64;
const WRITE_MS = 30_000;

interface NewFile {
  folder: string;
  /** Path relative to the base folder. */
  name: string;
  bytes: Uint8Array;
}

/**
 * Writes files durably in a separate thread, so that a busy disk delays nothing else. Files that
 * come at the same time are written together. The thread starts with the first file, and again
 * after it ended.
 */
export class BlobWriter {
  readonly #base: string;
  readonly #temporaryFolder: string;
  readonly #group: GroupCommit<NewFile>;
  readonly #pending = new Map<number, Deferred<WriteAnswer | ProbeAnswer>>();
  #thread: Worker | undefined;
  #requests = 0;

  /** @param base holds the folders; its own name must be durable */
  constructor(base: string, temporaryFolder: string) {
    this.#base = base;
    this.#temporaryFolder = temporaryFolder;
    this.#group = new GroupCommit((files) => this.#writeAll(files), MAX_GROUP);
  }

  figures(queue: string): QueueFigures {
    return this.#group.figures(queue);
  }

  /**
   * Writes a file. On return its bytes and its name survive a power failure; an existing file of
   * that name stays. Rejects with the file system's error, including its `code`.
   */
  write(file: NewFile): Promise<void> {
    return this.#group.add(file);
  }

  /** Writes a small file durably, and removes it; takes as long as the disk does. */
  async probe(): Promise<DiskState> {
    const probe = join(this.#temporaryFolder, newId());
    return ((await this.#post((id) => ({ id, probe }))) as ProbeAnswer).state;
  }

  /** Ends the thread; unfinished writes are rejected. */
  async stop(): Promise<void> {
    await this.#thread?.terminate();
  }

  async #writeAll(files: readonly NewFile[]): Promise<PromiseSettledResult<void>[]> {
    const { faults } = await this.#ask(files);
    return files.map((_, index) => {
      const fault = faults[index];
      if (fault === undefined) return { status: "fulfilled", value: undefined };
      const reason = Object.assign(new Error(fault.message), { code: fault.errno });
      return { status: "rejected", reason };
    });
  }

  async #ask(files: readonly NewFile[]): Promise<WriteAnswer> {
    const bytes = joined(files);
    const answer = this.#post(
      (id): WriteRequest => {
        const writes = files.map((file) => this.#place(file));
        return { id, base: this.#base, files: writes, bytes };
      },
      [bytes.buffer],
    );
    return (await withTimeout(answer, WRITE_MS, "Writing audio")) as WriteAnswer;
  }

  /** Resolves to the thread's answer; rejects when it ends before. */
  async #post(
    requestOf: (id: number) => WriteRequest | ProbeRequest,
    transfer: ArrayBuffer[] = [],
  ): Promise<WriteAnswer | ProbeAnswer> {
    const thread = this.#running();
    this.#requests += 1;
    const id = this.#requests;
    const answer = createDeferred<WriteAnswer | ProbeAnswer>();
    this.#pending.set(id, answer);
    try {
      thread.postMessage(requestOf(id), transfer);
      return await answer.promise;
    } finally {
      this.#pending.delete(id);
    }
  }

  #place({ folder, name, bytes }: NewFile): FileWrite {
    return {
      temporary: join(this.#temporaryFolder, newId()),
      folder,
      path: join(folder, name),
      length: bytes.byteLength,
    };
  }

  #running(): Worker {
    if (this.#thread !== undefined) return this.#thread;
    const execArgv = ["--disable-warning=ExperimentalWarning"];
    const thread = new Worker(ENTRY, { execArgv });
    this.#thread = thread;
    // The thread does not keep the process running.
    thread.unref();
    thread.on("message", (answer: WriteAnswer | ProbeAnswer) =>
      this.#pending.get(answer.id)?.resolve(answer),
    );
    thread.on("error", (error) => this.#ended(thread, error));
    thread.on("exit", () => this.#ended(thread, undefined));
    return thread;
  }

  #ended(thread: Worker, cause: Error | undefined): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    const reason = new AppError("unavailable", "Audio cannot be stored just now. Please retry.", {
      cause,
      retryAfter: 1,
    });
    for (const answer of this.#pending.values()) answer.reject(reason);
  }
}

/** Copies all files into one buffer, whose memory can be transferred to the thread. */
function joined(files: readonly NewFile[]): Uint8Array<ArrayBuffer> {
  const length = files.reduce((sum, { bytes }) => sum + bytes.byteLength, 0);
  const all = new Uint8Array(new ArrayBuffer(length));
  let at = 0;
  for (const { bytes } of files) {
    all.set(bytes, at);
    at += bytes.byteLength;
  }
  return all;
}
