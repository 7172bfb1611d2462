import { createHash } from "node:crypto";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { newId } from "../../../base/ids.ts";
import { type Runtime, systemRuntime, type Timer } from "../../../base/runtime.ts";
import type { LentFile } from "./audio-store.ts";

/** Copies that nobody reads for this time are removed, milliseconds. */
const IDLE_MS = 30_000;
/** Above this the oldest ones that nobody reads go first, bytes. */
const MOST_BYTES = 512 * 1024 * 1024;

interface Copy {
  readonly path: string;
  sha256: string;
  bytes: number;
  readers: number;
  usedAt: number;
}

interface LocalCopiesOptions {
  folder: string;
  runtime?: Pick<Runtime, "monotonic" | "after">;
  mostBytes?: number;
}

/**
 * Copies of stored files on this machine's disk while threads read them: a listener reads a chunk in
 * many parts. They are few, and gone half a minute after the last reader.
 */
export class LocalCopies {
  readonly #options: Required<LocalCopiesOptions>;
  readonly #copies = new Map<string, Copy>();
  readonly #making = new Map<string, Promise<Copy>>();
  #timer: Timer | undefined;

  constructor({ folder, runtime = systemRuntime, mostBytes = MOST_BYTES }: LocalCopiesOptions) {
    this.#options = { folder, runtime, mostBytes };
  }

  /**
   * Lends the copy of an object, which is fetched unless there is one that holds one of `digests`. Throws
   * what fetching throws.
   */
  async lend(
    key: string,
    digests: readonly string[] | undefined,
    fetch: () => AsyncIterable<Uint8Array>,
  ): Promise<LentFile> {
    const known = this.#copies.get(key);
    const isRight = known !== undefined && (digests?.includes(known.sha256) ?? true);
    const copy = isRight ? known : await this.#fetched(key, fetch);
    copy.readers += 1;
    copy.usedAt = this.#options.runtime.monotonic();
    return { path: copy.path, release: () => this.#release(copy) };
  }

  /** Those whose keys begin so; one that is read meanwhile stays readable for its reader. */
  async drop(begin: string): Promise<void> {
    for (const key of [...this.#copies.keys()]) {
      if (key.startsWith(begin)) await this.#remove(key);
    }
  }

  async stop(): Promise<void> {
    this.#timer?.cancel();
    await this.drop("");
  }

  #release(copy: Copy): void {
    copy.readers -= 1;
    copy.usedAt = this.#options.runtime.monotonic();
    void this.#tidy();
  }

  /** Several readers share one transfer. */
  async #fetched(key: string, fetch: () => AsyncIterable<Uint8Array>): Promise<Copy> {
    const making = this.#making.get(key) ?? this.#fetch(key, fetch);
    this.#making.set(key, making);
    try {
      return await making;
    } finally {
      if (this.#making.get(key) === making) this.#making.delete(key);
    }
  }

  async #fetch(key: string, fetch: () => AsyncIterable<Uint8Array>): Promise<Copy> {
    const path = join(this.#options.folder, `${newId()}.copy`);
    const file = await open(path, "wx", 0o600);
    const hash = createHash("sha256");
    let bytes = 0;
    try {
      for await (const part of fetch()) {
        hash.update(part);
        await file.write(part);
        bytes += part.byteLength;
      }
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    } finally {
      await file.close();
    }
    await this.#remove(key);
    const usedAt = this.#options.runtime.monotonic();
    const copy = { path, sha256: hash.digest("hex"), bytes, readers: 0, usedAt };
    this.#copies.set(key, copy);
    return copy;
  }

  async #tidy(): Promise<void> {
    const { runtime, mostBytes } = this.#options;
    const now = runtime.monotonic();
    let total = [...this.#copies.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    const byAge = [...this.#copies].sort(([, one], [, other]) => one.usedAt - other.usedAt);
    for (const [key, { readers, usedAt, bytes }] of byAge) {
      if (readers > 0 || (now - usedAt < IDLE_MS && total <= mostBytes)) continue;
      total -= bytes;
      await this.#remove(key);
    }
    if (this.#copies.size === 0 || this.#timer !== undefined) return;
    this.#timer = runtime.after(IDLE_MS, () => {
      this.#timer = undefined;
      void this.#tidy();
    });
  }

  async #remove(key: string): Promise<void> {
    const copy = this.#copies.get(key);
    this.#copies.delete(key);
    // What cannot be removed now goes at the next start.
    if (copy !== undefined) await rm(copy.path, { force: true }).catch(() => {});
  }
}
