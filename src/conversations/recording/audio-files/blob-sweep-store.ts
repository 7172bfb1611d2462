import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { Log } from "../../../base/log.ts";
import type { PeriodicWork } from "../../../base/work/periodic-task.ts";
import type { AudioStore } from "../audio-store/audio-store.ts";

/**
 * Files older than this without a chunk are orphans; an upload's file and its row are written
 * minutes apart at most.
 */
const ORPHAN_MS = 24 * 60 * 60 * 1000;
/** So long an orphan is kept aside: an older database may be in use until a newer one is restored. */
const KEPT_DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;
const EVERY_MS = 60 * 60 * 1000;

const nameRow = z.object({ name: z.string() });
const sessionRow = z.object({ id: z.string(), isDeleted: z.boolean() });
const nowRow = z.object({ now: z.number() });

type SweptStore = Pick<
  AudioStore,
  | "sessions"
  | "olderThan"
  | "setAside"
  | "sessionsAside"
  | "filesAside"
  | "putBack"
  | "removeAside"
  | "delete"
  | "logs"
  | "removeLog"
>;

/** What one pass did, and what it left. */
interface SweepFigures {
  /** Files that were removed: of deleted sessions, and orphans whose time aside is over. */
  removed: number;
  /** Orphans that were set aside. */
  setAside: number;
  /** Files that were put back, as a chunk names them again. */
  putBack: number;
  /** Sessions with audio of which the database knows nothing; nothing of them is touched. */
  unknownSessions: number;
  /** Orphans that are kept aside. */
  aside: number;
}

const NOTHING: SweepFigures = {
  removed: 0,
  setAside: 0,
  putBack: 0,
  unknownSessions: 0,
  aside: 0,
};

/**
 * Sets audio files aside that no chunk names: of uploads that were refused after their file had been
 * stored, or that a crash interrupted. They are removed 30 days later, and put back if a chunk names
 * them by then. That the database does not know a session at all is no reason to touch its audio: the
 * database may be the wrong one, or an older one. Of a deleted session everything is removed, however
 * young, because an upload may have created its folder again. It goes through all folders every hour,
 * one session at a time; several hosts may do so at once.
 */
export class BlobSweep {
  readonly #blobs: SweptStore;
  readonly #pool: DatabasePool;
  readonly #log: Log;
  #last: SweepFigures = NOTHING;

  constructor(blobs: SweptStore, pool: DatabasePool, log: Log) {
    this.#blobs = blobs;
    this.#pool = pool;
    this.#log = log;
  }

  /** Of the last pass. */
  get figures(): SweepFigures {
    return this.#last;
  }

  readonly task: PeriodicWork = {
    every: EVERY_MS,
    trouble: "audio without a chunk stays",
    run: async (signal) => this.#notify(await this.pass({ signal })),
  };

  #notify(done: SweepFigures): void {
    const { removed, setAside, putBack, unknownSessions } = done;
    if (removed + setAside + putBack > 0) this.#log.info(done, "audio without a chunk swept");
    if (unknownSessions > 0) {
      const message =
        "there is audio of sessions that this database does not know; it is left alone";
      this.#log.warn({ unknown_sessions: unknownSessions }, message);
    }
  }

  /**
   * Goes through all folders once, up to the session in hand when `signal` aborts. `now`: Unix milliseconds;
   * by the database's clock unless given.
   */
  async pass({ now, signal }: { now?: number; signal?: AbortSignal } = {}): Promise<SweepFigures> {
    const at = now ?? (await this.#now());
    const done = { ...NOTHING };
    await this.#inPages(this.#blobs.sessions(), signal, async (sessionId, known) => {
      if (known === undefined) done.unknownSessions += 1;
      else if (known.isDeleted) done.removed += await this.#blobs.delete(sessionId);
      else {
        done.setAside += await this.#sweepSession(sessionId, at);
        done.removed += await this.#sweepLogs(sessionId, at);
      }
    });
    await this.#inPages(this.#blobs.sessionsAside(), signal, async (sessionId, known) => {
      if (known?.isDeleted === true) done.removed += await this.#blobs.delete(sessionId);
      else await this.#sweepAside(sessionId, at, known !== undefined, done);
    });
    this.#last = done;
    return done;
  }

  async #now(): Promise<number> {
    const { now } = await this.#pool.one(sql.type(nowRow)`
      select (extract(epoch from now()) * 1000)::float8 as now`);
    return now;
  }

  /** `known` is undefined for a session that is in no row. */
  async #inPages(
    sessions: AsyncIterable<readonly string[]>,
    signal: AbortSignal | undefined,
    work: (sessionId: string, known: { isDeleted: boolean } | undefined) => Promise<void>,
  ): Promise<void> {
    for await (const page of sessions) {
      const rows = await this.#pool.any(sql.type(sessionRow)`
        select id, status = 'deleted' as "isDeleted" from sessions
        where id = any(${sql.array(page, "uuid")})`);
      const known = new Map(rows.map((row) => [row.id, row]));
      for (const sessionId of page) {
        if (signal?.aborted) return;
        await work(sessionId, known.get(sessionId));
      }
    }
  }

  async #sweepSession(sessionId: string, now: number): Promise<number> {
    const before = now - ORPHAN_MS;
    const old = await this.#blobs.olderThan(sessionId, before);
    if (old.length === 0) return 0;
    const named = await this.#named(sessionId);
    let setAside = 0;
    for (const name of old) {
      if (named.has(name)) continue;
      if (await this.#blobs.setAside(sessionId, name, before, now)) setAside += 1;
    }
    return setAside;
  }

  /**
   * Removes logs of streams whose chunk was stored, or which no fragment was ever recorded of: they stay where
   * they are for as long as files do aside.
   */
  async #sweepLogs(sessionId: string, now: number): Promise<number> {
    const logs = await this.#blobs.logs(sessionId);
    const old = logs.filter(({ at }) => at < now - KEPT_DAYS * DAY_MS);
    if (old.length === 0) return 0;
    const rows = await this.#pool.any(sql.type(nameRow)`
      select log as name from audio_pieces where session_id = ${sessionId} and log is not null`);
    const named = new Set(rows.map(({ name }) => name));
    const left = old.filter(({ log }) => !named.has(log));
    for (const { log } of left) await this.#blobs.removeLog(sessionId, log);
    return left.length;
  }

  async #sweepAside(sessionId: string, now: number, isKnown: boolean, done: SweepFigures) {
    const files = await this.#blobs.filesAside(sessionId);
    const named = files.length === 0 ? new Set() : await this.#named(sessionId);
    for (const file of files) {
      if (named.has(file.sha256)) {
        await this.#blobs.putBack(sessionId, file);
        done.putBack += 1;
      } else if (isKnown && now - file.since > KEPT_DAYS * DAY_MS) {
        await this.#blobs.removeAside(sessionId, file);
        done.removed += 1;
      } else done.aside += 1;
    }
  }

  async #named(sessionId: string): Promise<ReadonlySet<string>> {
    const rows = await this.#pool.any(sql.type(nameRow)`
      select encode(sha256, 'hex') as name from chunks where session_id = ${sessionId}`);
    return new Set(rows.map(({ name }) => name));
  }
}
