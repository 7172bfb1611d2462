import { setImmediate } from "node:timers/promises";
import type { DiskState } from "./audio-watch.ts";

/** Where a file goes. */
export interface FilePaths {
  /** Where its bytes become durable first, on the same file system. */
  temporary: string;
  folder: string;
  /** The final path, given once the bytes are durable. */
  path: string;
}

/** A file that grows. */
export type LogPath = Pick<FilePaths, "folder" | "path">;

/** Bytes, or the path of a file that was received. */
export type FileContent = Uint8Array | string;

/** Port: calls of a file system. Only flushing may take long; it runs in parallel. */
export interface FileOperations {
  /** Writes a new file and leaves it open. */
  create(path: string, bytes: Uint8Array): number;
  /** Moves a received file here, from whatever file system, and opens it. */
  takeOver(received: string, path: string): number;
  /** Writes at `at` and leaves the file open, which begins with `at` 0, and its folder with it. */
  extend(place: LogPath, at: number, bytes: Uint8Array): number;
  openFolder(path: string): number;
  /** Bytes and length, without times. */
  flushData(fd: number): Promise<void>;
  flush(fd: number): Promise<void>;
  close(fd: number): void;
  /** Gives the file its final name, and makes its folder; one that has the name stays. */
  name(place: FilePaths): void;
  /** Never throws. */
  remove(path: string): void;
  /** The room on the disk of this path; undefined where it does not tell. */
  room(path: string): DiskState["room"];
  /** Milliseconds. */
  now(): number;
}

const PROBE_BYTES = 4_096;
/** A flush that takes longer is slow, milliseconds. */
const SLOW_MS = 50;

/**
 * Writes files durably: content, then name, then the folders that hold it, each flushed. A few flushes
 * run at once, and a folder is flushed once for all whose names were in it before. While flushes are
 * quick those that begin files go first, so that most files share the flushes of folders; on a slow
 * disk those go first that finish a file, so that files become durable one after the other, not all
 * at the end.
 */
export class FileWrites {
  readonly #files: FileOperations;
  readonly #base: string;
  readonly #slots: WriteSlots;
  /** Flushes of folders that have not begun, by path; and the one of each that is under way. */
  readonly #planned = new Map<string, Promise<void>>();
  readonly #flushing = new Map<string, Promise<void>>();

  /**
   * @param base holds the folders of the files
   * @param atOnce most flushes at the same time
   */
  constructor(files: FileOperations, base: string, atOnce: number) {
    this.#files = files;
    this.#base = base;
    this.#slots = new WriteSlots(atOnce);
  }

  /**
   * Resolves when bytes and name survive a power failure, to the time that flushing the bytes took,
   * milliseconds. What is received is taken over before this returns.
   */
  async write(place: FilePaths, content: FileContent): Promise<number> {
    let ms: number;
    try {
      ms = await this.#flushNew(place.temporary, content, "begins");
      this.#files.name(place);
    } finally {
      this.#files.remove(place.temporary);
    }
    // The base folder is always flushed: another process may have made a folder and not flushed its
    // name yet.
    await Promise.all([this.#flushFolder(this.#base), this.#flushFolder(place.folder)]);
    return ms;
  }

  /** Writes at the end of a file that grows; resolves when that survives a power failure. */
  async append(place: LogPath, at: number, bytes: Uint8Array): Promise<void> {
    const fd = this.#files.extend(place, at, bytes);
    const isNew = at === 0;
    const folders = isNew ? [this.#base, place.folder] : [];
    const flushes = await Promise.allSettled([
      this.#slots.run("grows", () => this.#files.flushData(fd)),
      ...folders.map((folder) => this.#flushFolder(folder, "grows")),
    ]);
    this.#files.close(fd);
    const failed = flushes.find((each) => each.status === "rejected");
    if (failed === undefined) return;
    if (isNew) this.#files.remove(place.path);
    throw failed.reason;
  }

  /** Writes a small file durably and removes it. */
  async probe(path: string): Promise<void> {
    try {
      await this.#flushNew(path, new Uint8Array(PROBE_BYTES), "begins");
    } finally {
      this.#files.remove(path);
    }
  }

  async #flushNew(path: string, content: FileContent, turn: Turn): Promise<number> {
    const files = this.#files;
    const fd =
      typeof content === "string" ? files.takeOver(content, path) : files.create(path, content);
    try {
      return await this.#slots.run(turn, async () => {
        const begun = files.now();
        await files.flush(fd);
        const ms = files.now() - begun;
        this.#slots.first = ms > SLOW_MS ? "finishes" : "begins";
        return ms;
      });
    } finally {
      files.close(fd);
    }
  }

  /** Flushes the folder by a flush that begins from now on. */
  #flushFolder(path: string, turn: Turn = "finishes"): Promise<void> {
    const planned = this.#planned.get(path);
    if (planned !== undefined) return planned;
    const flush = this.#flushNext(path, turn);
    this.#planned.set(path, flush);
    return flush;
  }

  /** Files that become ready in this turn, or while the folder is being flushed, share the next one. */
  async #flushNext(path: string, turn: Turn): Promise<void> {
    await setImmediate();
    await this.#flushing.get(path)?.catch(() => {});
    await this.#slots.run(turn, () => {
      this.#planned.delete(path);
      const flush = this.#flushOpened(path);
      this.#flushing.set(path, flush);
      return flush.finally(() => this.#flushing.delete(path));
    });
  }

  async #flushOpened(path: string): Promise<void> {
    const fd = this.#files.openFolder(path);
    try {
      await this.#files.flush(fd);
    } finally {
      this.#files.close(fd);
    }
  }
}

/** What a flush does for its file. Those that grow go first: a live stream waits for each. */
type Turn = "begins" | "finishes" | "grows";

/** A bounded number of flushes at a time. What waits is bounded by who gives the files. */
class WriteSlots {
  first: Exclude<Turn, "grows"> = "finishes";
  #free: number;
  readonly #waiting: Record<Turn, (() => void)[]> = { grows: [], finishes: [], begins: [] };

  constructor(count: number) {
    this.#free = count;
  }

  async run<T>(turn: Turn, work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting[turn].push(resolve));
    try {
      return await work();
    } finally {
      const { grows, begins, finishes } = this.#waiting;
      const [one, other] = this.first === "begins" ? [begins, finishes] : [finishes, begins];
      const next = grows.shift() ?? one.shift() ?? other.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
