import { link, open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { AppError } from "../../base/errors.ts";
import { isId, newId } from "../../base/ids.ts";
import { errnoOf } from "./errno.ts";

const FILE = "store-id";
const folderRow = z.object({ id: z.string() });

/**
 * Makes sure that `folder` is the one in which all processes of this database keep audio: that a
 * local folder is not mistaken for one that machines share. The first process claims its folder.
 * Throws `unavailable`, saying what to do, when the database's audio is in another.
 */
export async function claimAudioFolder(pool: DatabasePool, folder: string): Promise<void> {
  const path = join(folder, FILE);
  // In this order: a folder is marked before it is claimed.
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

/** Whole or not at all: two processes that begin at once get one id. */
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

/** Returns the id that counts: that of whoever was first. */
async function claim(pool: DatabasePool, id: string): Promise<string> {
  await pool.query(sql.unsafe`
    insert into audio_folder (id) values (${id}) on conflict do nothing`);
  return (await pool.one(sql.type(folderRow)`select id from audio_folder`)).id;
}
