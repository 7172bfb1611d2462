import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { errorMessage } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { FolderBlobs } from "./blobs.ts";
import { guarded } from "./store-error.ts";

/** An upload's file and its row are minutes apart at most. */
const ORPHAN_MS = 24 * 60 * 60 * 1000;

const nameRow = z.object({ name: z.string() });

/**
 * Clears audio away that no chunk names: of uploads that were refused after
 * their file had been stored, or that a crash cut off between the two. One pass
 * over all folders, a session at a time; several hosts at it do no harm.
 */
export class BlobSweep {
  readonly #blobs: FolderBlobs;
  readonly #pool: DatabasePool;
  readonly #log: Log;
  readonly #stop = new AbortController();
  #pass: Promise<void> | undefined;

  constructor(blobs: FolderBlobs, pool: DatabasePool, log: Log) {
    this.#blobs = blobs;
    this.#pool = pool;
    this.#log = log;
  }

  /** Begins in the background; a failure is logged, and the next start tries again. */
  start(): void {
    this.#pass ??= this.run().then(
      (removed) => {
        if (removed > 0) this.#log.info({ removed }, "audio without a chunk removed");
      },
      (error: unknown) => {
        this.#log.warn({ error: errorMessage(error) }, "audio without a chunk stays");
      },
    );
  }

  /** Resolves when the session in hand is done. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#pass;
  }

  /** Returns how many files went. */
  async run(now = Date.now()): Promise<number> {
    const before = now - ORPHAN_MS;
    let removed = 0;
    for (const sessionId of await this.#blobs.sessions()) {
      if (this.#stop.signal.aborted) return removed;
      removed += await this.#sweepSession(sessionId, before);
    }
    return removed;
  }

  async #sweepSession(sessionId: string, before: number): Promise<number> {
    const old = await this.#blobs.olderThan(sessionId, before);
    if (old.length === 0) return 0;
    const named = await this.#named(sessionId);
    let removed = 0;
    for (const name of old) {
      if (named.has(name)) continue;
      if (await this.#blobs.removeOld(sessionId, name, before)) removed += 1;
    }
    return removed;
  }

  #named(sessionId: string): Promise<ReadonlySet<string>> {
    return guarded(async () => {
      const rows = await this.#pool.any(sql.type(nameRow)`
        select encode(sha256, 'hex') as name from chunks where session_id = ${sessionId}`);
      return new Set(rows.map(({ name }) => name));
    });
  }
}
