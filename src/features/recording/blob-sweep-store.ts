import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { errorMessage } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Runtime } from "../../base/runtime.ts";
import type { FolderBlobs } from "./blobs.ts";

/** An upload's file and its row are minutes apart at most. */
const ORPHAN_MS = 24 * 60 * 60 * 1000;
const EVERY_MS = 60 * 60 * 1000;
/** Sessions that the record is asked of at once. */
const PAGE = 500;

const nameRow = z.object({ name: z.string() });
const idRow = z.object({ id: z.string() });

/**
 * Clears audio away that no chunk names: of uploads that were refused after
 * their file had been stored, or that a crash cut off between the two. Of a
 * session that was deleted everything goes, however young: its folder was made
 * again by an upload that came in between. A pass over all folders every hour,
 * a session at a time; several hosts at it do no harm.
 */
export class BlobSweep {
  readonly #blobs: FolderBlobs;
  readonly #pool: DatabasePool;
  readonly #log: Log;
  readonly #runtime: Runtime;
  readonly #stop = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(blobs: FolderBlobs, pool: DatabasePool, log: Log, runtime: Runtime) {
    this.#blobs = blobs;
    this.#pool = pool;
    this.#log = log;
    this.#runtime = runtime;
  }

  /** Goes on in the background; a pass that fails is logged, and the next tries again. */
  start(): void {
    this.#loop ??= this.#run();
  }

  /** Resolves when the session in hand is done. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        const removed = await this.pass();
        if (removed > 0) this.#log.info({ removed }, "audio without a chunk removed");
      } catch (error) {
        this.#log.warn({ error: errorMessage(error) }, "audio without a chunk stays");
      }
      await this.#runtime.delay(EVERY_MS, this.#stop.signal);
    }
  }

  /** Returns how many files and folders went. By the clock of the files' machine. */
  async pass(now = Date.now()): Promise<number> {
    const before = now - ORPHAN_MS;
    let removed = 0;
    const sessions = await this.#blobs.sessions();
    for (let at = 0; at < sessions.length; at += PAGE) {
      const page = sessions.slice(at, at + PAGE);
      const deleted = await this.#deleted(page);
      for (const sessionId of page) {
        if (this.#stop.signal.aborted) return removed;
        removed += deleted.has(sessionId)
          ? await this.#clear(sessionId)
          : await this.#sweepSession(sessionId, before);
      }
    }
    return removed;
  }

  async #clear(sessionId: string): Promise<number> {
    await this.#blobs.delete(sessionId);
    return 1;
  }

  async #deleted(sessionIds: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.#pool.any(sql.type(idRow)`
      select id from sessions
      where status = 'deleted' and id = any(${sql.array([...sessionIds], "uuid")})`);
    return new Set(rows.map(({ id }) => id));
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

  async #named(sessionId: string): Promise<ReadonlySet<string>> {
    const rows = await this.#pool.any(sql.type(nameRow)`
      select encode(sha256, 'hex') as name from chunks where session_id = ${sessionId}`);
    return new Set(rows.map(({ name }) => name));
  }
}
