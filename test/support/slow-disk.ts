import { basename, dirname } from "node:path";
import type { Runtime } from "../../src/base/runtime.ts";
import type { DiskState } from "../../src/conversations/recording/durable-files/audio-watch.ts";
import type {
  FileOperations,
  FilePaths,
  LogPath,
} from "../../src/conversations/recording/durable-files/file-writes.ts";

interface OpenFile {
  path: string;
  isFolder: boolean;
}

/**
 * A disk in memory whose flushes take as long as the test says, and of which is known what a power
 * failure would leave.
 */
export class SlowDisk implements FileOperations {
  /** How long the next flushes take, milliseconds; infinite: until `heal`. */
  flushMs: number;
  /** Error code with which files cannot be made. */
  fault: string | undefined;
  /** Of each path, how often its bytes were written. */
  readonly written = new Map<string, number>();
  /** Most flushes at the same time. */
  most = 0;
  /** How many flushes began. */
  flushes = 0;
  readonly #runtime: Pick<Runtime, "after" | "monotonic">;
  readonly #open = new Map<number, OpenFile>();
  /** Names that are there, by folder; and those that a power failure leaves. */
  readonly #names = new Map<string, Set<string>>();
  readonly #durable = new Map<string, Set<string>>();
  readonly #flushed = new Set<string>();
  readonly #temporary = new Set<string>();
  #hanging: (() => void)[] = [];
  /** Ends of flushes by their time: those of one time end together, as with a journal's commit. */
  readonly #ends = new Map<number, (() => void)[]>();
  #atOnce = 0;
  #fds = 0;

  constructor(runtime: Pick<Runtime, "after" | "monotonic">, flushMs: number) {
    this.#runtime = runtime;
    this.flushMs = flushMs;
  }

  /** Temporary files and descriptors that are left. */
  get left(): number {
    return this.#temporary.size + this.#open.size;
  }

  create(path: string): number {
    if (this.fault !== undefined) {
      throw Object.assign(new Error(`${this.fault}: cannot be made`), { code: this.fault });
    }
    this.#temporary.add(path);
    return this.#opened({ path, isFolder: false });
  }

  takeOver(_received: string, path: string): number {
    return this.create(path);
  }

  extend({ folder, path }: LogPath, at: number, bytes: Uint8Array): number {
    if (this.fault !== undefined) {
      throw Object.assign(new Error(`${this.fault}: cannot grow`), { code: this.fault });
    }
    if (at === 0) {
      this.#add(dirname(folder), basename(folder));
      this.#add(folder, basename(path));
    } else if (this.written.get(path) !== at) throw new Error("an entry stands elsewhere");
    this.written.set(path, at + bytes.byteLength);
    return this.#opened({ path, isFolder: false });
  }

  openFolder(path: string): number {
    return this.#opened({ path, isFolder: true });
  }

  flushData(fd: number): Promise<void> {
    return this.flush(fd);
  }

  async flush(fd: number): Promise<void> {
    const file = this.#open.get(fd);
    if (file === undefined) throw new Error("a closed file is flushed");
    const { path, isFolder } = file;
    // What is named after the flush began may be missing from it.
    const names = new Set(this.#names.get(path));
    this.flushes += 1;
    this.#atOnce += 1;
    this.most = Math.max(this.most, this.#atOnce);
    await this.#wait();
    this.#atOnce -= 1;
    if (isFolder) {
      const durable = this.#durable.get(path) ?? new Set();
      this.#durable.set(path, durable);
      for (const name of names) durable.add(name);
    } else this.#flushed.add(path);
  }

  close(fd: number): void {
    if (!this.#open.delete(fd)) throw new Error("a file is closed twice");
  }

  name({ temporary, folder, path }: FilePaths): void {
    if (!this.#flushed.has(temporary)) throw new Error("bytes that are not durable get a name");
    this.#add(dirname(folder), basename(folder));
    this.#add(folder, basename(path));
    this.written.set(path, (this.written.get(path) ?? 0) + 1);
  }

  remove(path: string): void {
    this.#temporary.delete(path);
  }

  room(): DiskState["room"] {
    return { free: 50, size: 100 };
  }

  now(): number {
    return this.#runtime.monotonic();
  }

  /** Whether the file is there after a power failure. */
  survives(path: string): boolean {
    const folder = dirname(path);
    return [path, folder].every((each) => this.#durable.get(dirname(each))?.has(basename(each)));
  }

  /** Ends all flushes that hang; those to come take this long. */
  heal(flushMs: number): void {
    this.flushMs = flushMs;
    for (const end of this.#hanging.splice(0)) end();
  }

  #opened(file: OpenFile): number {
    this.#fds += 1;
    this.#open.set(this.#fds, file);
    return this.#fds;
  }

  #add(folder: string, name: string): void {
    const names = this.#names.get(folder) ?? new Set();
    this.#names.set(folder, names);
    names.add(name);
  }

  #wait(): Promise<void> {
    const ms = this.flushMs;
    if (ms === Number.POSITIVE_INFINITY)
      return new Promise((resolve) => this.#hanging.push(resolve));
    const at = this.#runtime.monotonic() + ms;
    return new Promise((resolve) => {
      const ends = this.#ends.get(at);
      if (ends !== undefined) return void ends.push(resolve);
      const all = [resolve];
      this.#ends.set(at, all);
      this.#runtime.after(ms, () => {
        this.#ends.delete(at);
        for (const end of all) end();
      });
    });
  }
}
