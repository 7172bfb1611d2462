import { link, open, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { AppError, errnoOf } from "../../base/errors.ts";
import { isId, newId } from "../../base/ids.ts";

const FILE = "store-id";
/** So many sessions of a folder are looked up in a database that has not claimed it. */
const MOST_LOOKED_UP = 1_000;
const folderRow = z.object({ id: z.string() });
const countRow = z.object({ count: z.number() });

/** `foreign`: the folder holds audio of another database, so nothing in it may be removed. */
export type AudioFolder = { kind: "own" } | { kind: "foreign"; message: string };

/**
 * Makes sure that all processes of this database keep audio in the same `folder`, so that a local
 * folder is not mistaken for a shared one. The first process claims its folder, unless the folder
 * holds recordings of which the database knows none: then the database is the wrong one, or an
 * empty one in place of the one that was lost, and the folder stays unclaimed. Throws `unavailable`,
 * with a message that says what to do, when the database's audio is in another folder.
 */
export async function claimAudioFolder(pool: DatabasePool, folder: string): Promise<AudioFolder> {
  const path = join(folder, FILE);
  // A folder must be marked before it is claimed.
  const claimed = await claimedId(pool);
  const here = await readId(path);
  if (claimed === undefined) {
    const sessions = (await readdir(folder)).filter(isId);
    if (sessions.length > 0 && !(await knowsAny(pool, sessions))) {
      return { kind: "foreign", message: foreign(folder, sessions.length) };
    }
    const id = here ?? (await markFolder(path));
    const winner = await claim(pool, id);
    if (winner === id) return { kind: "own" };
    throw elsewhere(folder, path, winner);
  }
  if (claimed !== here) throw elsewhere(folder, path, claimed);
  return { kind: "own" };
}

function foreign(folder: string, sessions: number): string {
  return `${folder} holds audio of ${sessions} sessions, none of which this database knows. Nothing of it is removed. If this is the wrong database, correct DATABASE_URL or restore it from its backup; to begin anew, name an empty folder in VOICE_BLOB_DIR.`;
}

async function knowsAny(pool: DatabasePool, sessions: readonly string[]): Promise<boolean> {
  const ids = sql.array(sessions.slice(0, MOST_LOOKED_UP), "uuid");
  const { count } = await pool.one(sql.type(countRow)`
    select count(*)::int as count from sessions where id = any(${ids})`);
  return count > 0;
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
