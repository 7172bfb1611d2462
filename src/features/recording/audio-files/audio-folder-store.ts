import { link, open, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { AppError, errnoOf } from "../../../base/errors.ts";
import { isId, newId } from "../../../base/ids.ts";

const FILE = "store-id";
/** Sessions of a folder per query, in a database that has not claimed it. */
const PAGE = 1_000;
const folderRow = z.object({ id: z.string() });
const countRow = z.object({ count: z.number() });

/**
 * `foreign`: the folder holds audio of another database, so nothing in it may be removed. `unknown`:
 * number of its sessions that this database does not know.
 */
export type AudioFolder = { kind: "own" } | { kind: "foreign"; unknown: number; message: string };

/**
 * Makes sure that all processes of this database keep audio in the same `folder`, so that a local
 * folder is not mistaken for a shared one. The first process claims its folder, unless the database
 * knows fewer than half of the sessions that it holds audio of: then the database is the wrong one, or
 * a new one in place of the one that was lost, whatever it has recorded into the folder since, and the
 * folder stays unclaimed. Throws `unavailable`,
 * with a message that says what to do, when the database's audio is in another folder.
 */
export async function claimAudioFolder(pool: DatabasePool, folder: string): Promise<AudioFolder> {
  const path = join(folder, FILE);
  // A folder must be marked before it is claimed.
  const claimed = await claimedId(pool);
  const here = await readId(path);
  if (claimed === undefined) {
    const sessions = (await readdir(folder)).filter(isId);
    const known = await countKnown(pool, sessions);
    if (known * 2 < sessions.length) return foreign(folder, sessions.length, known);
    const id = here ?? (await markFolder(path));
    const winner = await claim(pool, id);
    if (winner === id) return { kind: "own" };
    throw elsewhere(folder, path, winner);
  }
  if (claimed !== here) throw elsewhere(folder, path, claimed);
  return { kind: "own" };
}

function foreign(folder: string, sessions: number, known: number): AudioFolder {
  const message = `${folder} holds audio of ${sessions} sessions, of which this database knows ${known === 0 ? "none" : known}. Nothing of it is removed. If this is the wrong database, correct DATABASE_URL or restore it from its backup; to begin anew, name an empty folder in VOICE_BLOB_DIR.`;
  return { kind: "foreign", unknown: sessions - known, message };
}

async function countKnown(pool: DatabasePool, sessions: readonly string[]): Promise<number> {
  let known = 0;
  for (let at = 0; at < sessions.length; at += PAGE) {
    const ids = sql.array(sessions.slice(at, at + PAGE), "uuid");
    const { count } = await pool.one(sql.type(countRow)`
      select count(*)::int as count from sessions where id = any(${ids})`);
    known += count;
  }
  return known;
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
