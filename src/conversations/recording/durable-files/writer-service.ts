import { errnoOf } from "../../../base/errors.ts";
import type { DiskState } from "./audio-watch.ts";
import {
  type FileContent,
  type FileOperations,
  type FilePaths,
  FileWrites,
  type LogPath,
} from "./file-writes.ts";

/** What the thread is started with. */
export interface WriterOrder {
  /** The folder that holds the sessions' folders. */
  base: string;
  /** Most flushes at the same time. */
  flushes: number;
}

export interface FileWrite extends FilePaths {
  id: number;
  /** Of its bytes; or a file that was received. */
  content: { length: number } | { received: string };
}

interface WriteRequest {
  kind: "write";
  files: FileWrite[];
  /** The bytes of all files that have some, concatenated. */
  bytes: Uint8Array;
}

/** An entry for a file that grows. */
export interface LogAppend extends LogPath {
  id: number;
  /** Where in the file it stands. */
  at: number;
  length: number;
}

interface AppendRequest {
  kind: "append";
  entries: LogAppend[];
  /** The bytes of all entries, concatenated. */
  bytes: Uint8Array;
}

/** Asks whether a file can be written. */
interface ProbeRequest {
  kind: "probe";
  id: number;
  /** Where it is tried; removed again. */
  path: string;
}

export type WriterRequest = WriteRequest | AppendRequest | ProbeRequest;

/** One for each file and entry, as soon as it is durable or failed, and for each probe. */
export type WriterAnswer = { id: number } & (
  | Outcome
  | { kind: "failed"; errno: string | undefined; message: string }
  | { kind: "probed"; state: DiskState }
);

type Outcome = { kind: "durable"; flushMs: number } | { kind: "appended" };

/** What the thread does: carries out requests, each part of which is answered when it is done. */
export class WriterService {
  readonly #files: FileOperations;
  readonly #writes: FileWrites;
  readonly #notify: (answer: WriterAnswer) => void;

  constructor(
    files: FileOperations,
    { base, flushes }: WriterOrder,
    tell: (answer: WriterAnswer) => void,
  ) {
    this.#files = files;
    this.#writes = new FileWrites(files, base, flushes);
    this.#notify = tell;
  }

  serve(request: WriterRequest): void {
    if (request.kind === "probe") return void this.#probe(request);
    let at = 0;
    if (request.kind === "append") {
      for (const entry of request.entries) {
        void this.#append(entry, request.bytes.subarray(at, at + entry.length));
        at += entry.length;
      }
      return;
    }
    for (const { id, content, ...place } of request.files) {
      if ("received" in content) void this.#write(id, place, content.received);
      else {
        void this.#write(id, place, request.bytes.subarray(at, at + content.length));
        at += content.length;
      }
    }
  }

  #write(id: number, place: FilePaths, content: FileContent): Promise<void> {
    return this.#answering(id, async () => {
      return { kind: "durable", flushMs: await this.#writes.write(place, content) };
    });
  }

  #append({ id, at, folder, path }: LogAppend, bytes: Uint8Array): Promise<void> {
    return this.#answering(id, async () => {
      await this.#writes.append({ folder, path }, at, bytes);
      return { kind: "appended" };
    });
  }

  async #answering(id: number, work: () => Promise<Outcome>): Promise<void> {
    try {
      this.#notify({ id, ...(await work()) });
    } catch (error) {
      this.#notify({ id, kind: "failed", errno: errnoOf(error), message: String(error) });
    }
  }

  async #probe({ id, path }: ProbeRequest): Promise<void> {
    const state: DiskState = {};
    try {
      const room = this.#files.room(path);
      if (room !== undefined) state.room = room;
      await this.#writes.probe(path);
    } catch (error) {
      state.fault = errnoOf(error) ?? String(error);
    }
    this.#notify({ id, kind: "probed", state });
  }
}
