import { link, open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { AppError, errnoOf, errorMessage } from "../../base/errors.ts";
import { isId, newId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { Runtime } from "../../base/runtime.ts";
import type { FolderBlobs } from "./blobs.ts";

const FILE = "store-id";
const folderRow = z.object({ id: z.string() });

/**
 * Makes sure that all processes of this database keep audio in the same `folder`, so that a local
 * folder is not mistaken for a shared one. The first process claims its folder. Throws
 * `unavailable`, with a message that says what to do, when the database's audio is in another
 * folder.
 */
export async function claimAudioFolder(pool: DatabasePool, folder: string): Promise<void> {
  const path = join(folder, FILE);
  // A folder must be marked before it is claimed.
  const claimed = await claimedId(pool);
  const here = await readId(path);
  if (claimed === undefined) {
    const id = here ?? (await markFolder(path));
    const winner = await claim(pool, id);
    if (winner === id) return;
    throw elsewhere(folder, path, winner);
  }
  if (claimed !== here) throw elsewhere(folder, path, claimed);
}

function elsewhere(folder: string, path: string, id: string): AppError {
  return new AppError(
    "unavailable",
    `${folder} does not hold the audio of this database: all machines need one folder (VOICE_BLOB_DIR). If the audio was moved here: echo ${id} > ${path}`,
  );
}

async function readId(path: string): Promise<string | undefined> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT") return "";
    throw error;
  });
  const id = text.trim();
  return isId(id) ? id : undefined;
}

/** Writes the mark atomically: two processes that start at once get the same id. */
async function markFolder(path: string): Promise<string> {
  const id = newId();
  const draft = `${path}.${id}`;
  const file = await open(draft, "wx", 0o600);
  try {
    await file.writeFile(`${id}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await link(draft, path);
    return id;
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
    return (await readId(path)) ?? id;
  } finally {
    await rm(draft, { force: true });
  }
}

async function claimedId(pool: DatabasePool): Promise<string | undefined> {
  const row = await pool.maybeOne(sql.type(folderRow)`select id from audio_folder`);
  return row?.id;
}

/** Claims the folder and returns the id that is in force: that of the first claim. */
async function claim(pool: DatabasePool, id: string): Promise<string> {
  await pool.query(sql.unsafe`
    insert into audio_folder (id) values (${id}) on conflict do nothing`);
  return (await pool.one(sql.type(folderRow)`select id from audio_folder`)).id;
}

/**
 * Files older than this without a chunk are orphans; an upload's file and its row are written
 * minutes apart at most.
 */
const ORPHAN_MS = 24 * 60 * 60 * 1000;
const EVERY_MS = 60 * 60 * 1000;
/** Sessions per query. */
const PAGE = 500;

const nameRow = z.object({ name: z.string() });
const idRow = z.object({ id: z.string() });

/**
 * Removes audio files that no chunk names: of uploads that were refused after their file had been
 * stored, or that a crash interrupted. Of a deleted session everything is removed, however young,
 * because an upload may have created its folder again. It goes through all folders every hour, one
 * session at a time; several hosts may do so at once.
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

  /** Starts the sweep in the background. A pass that fails is logged; the next one tries again. */
  start(): void {
    this.#loop ??= this.#run();
  }

  /** Resolves when the current session is done. */
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

  /**
   * Goes through all folders once and returns how many files and folders were removed.
   *
   * @param now Unix milliseconds, by the clock that sets the files' times
   */
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
