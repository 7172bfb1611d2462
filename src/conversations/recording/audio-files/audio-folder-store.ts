import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { AppError } from "../../../base/errors.ts";
import { isId, newId } from "../../../base/ids.ts";
import type { AudioStore } from "../audio-store/audio-store.ts";
import { STORE_MARK as MARK } from "../audio-store/moving-store.ts";

const MOST_MARK_BYTES = 1_024;
const folderRow = z.object({ id: z.string() });
const countRow = z.object({ count: z.number() });

/** What tells stores apart. */
type MarkedStore = Pick<AudioStore, "names" | "marks" | "sessions">;

/**
 * `foreign`: the store holds audio of another database, so nothing in it may be removed. `unknown`:
 * number of its sessions that this database does not know.
 */
export type AudioFolder = { kind: "own" } | { kind: "foreign"; unknown: number; message: string };

/**
 * Makes sure that all processes of this database keep audio in the same store, so that a local
 * folder is not mistaken for a shared one. The first process claims its store, unless the database
 * knows fewer than half of the sessions that it holds audio of: then the database is the wrong one, or
 * a new one in place of the one that was lost, whatever it has recorded into the store since, and the
 * store stays unclaimed. Throws `unavailable`,
 * with a message that says what to do, when the database's audio is in another store.
 */
export async function claimAudioStore(
  pool: DatabasePool,
  store: MarkedStore,
): Promise<AudioFolder> {
  // A store must be marked before it is claimed.
  const claimed = await claimedId(pool);
  const here = await readId(store);
  if (claimed === undefined) {
    const { sessions, known } = await countSessions(pool, store);
    if (known * 2 < sessions) return foreign(store, sessions, known);
    const id = here ?? (await markStore(store));
    const winner = await claim(pool, id);
    if (winner === id) return { kind: "own" };
    throw elsewhere(store, winner);
  }
  if (claimed !== here) throw elsewhere(store, claimed);
  return { kind: "own" };
}

function foreign({ names }: MarkedStore, sessions: number, known: number): AudioFolder {
  const { address, kind, setting } = names;
  const another = kind === "folder" ? "an empty folder" : "an empty bucket or prefix";
  const message = `${address} holds audio of ${sessions} sessions, of which this database knows ${known === 0 ? "none" : known}. Nothing of it is removed. If this is the wrong database, correct DATABASE_URL or restore it from its backup; to begin anew, name ${another} in ${setting}.`;
  return { kind: "foreign", unknown: sessions - known, message };
}

async function countSessions(pool: DatabasePool, store: MarkedStore) {
  let [sessions, known] = [0, 0];
  for await (const page of store.sessions()) {
    const { count } = await pool.one(sql.type(countRow)`
      select count(*)::int as count from sessions where id = any(${sql.array(page, "uuid")})`);
    sessions += page.length;
    known += count;
  }
  return { sessions, known };
}

function elsewhere({ names, marks }: MarkedStore, id: string): AppError {
  const { address, kind, setting } = names;
  return new AppError(
    "unavailable",
    `${address} does not hold the audio of this database: all machines need one ${kind} (${setting}). If the audio was moved here: ${marks.commandToWrite(MARK, id)}`,
  );
}

async function readId({ marks }: MarkedStore): Promise<string | undefined> {
  const id = (await marks.read(MARK, MOST_MARK_BYTES))?.trim() ?? "";
  return isId(id) ? id : undefined;
}

/** Two processes that start at once get the same id. */
async function markStore(store: MarkedStore): Promise<string> {
  const id = newId();
  if (await store.marks.writeOnce(MARK, `${id}\n`)) return id;
  return (await readId(store)) ?? id;
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
