import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import { to } from "pg-copy-streams";
import { StepError } from "../setup/step-error.mjs";
import { errorCode } from "../supervisor/error-code.ts";
import type { RecordFacts, StoredTable } from "./manifest.ts";
import { digestsOf, NAMED_SOUND, type NamedSound, ONE_NAMED_SOUND } from "./named-sound.ts";
import type { ObjectFolder } from "./objects.ts";
import { type OpenLog, openLogsOf } from "./open-logs.ts";
import { storeStream } from "./streams.ts";

const CONNECT_MS = 10_000;
/** A migration under way holds tables for so long at most; milliseconds. */
const LOCK_MS = 60_000;
/** From here on erasures are noted, and what each file holds. */
const OLDEST = "0086_erasures.sql";

/** What makes rows the same text in every session and version. */
const TEXT_SETTINGS = `
  set client_encoding = 'UTF8'; set datestyle = 'ISO, MDY'; set intervalstyle = 'postgres';
  set timezone = 'UTC'; set bytea_output = 'hex'; set extra_float_digits = 1;
  set synchronize_seqscans = off; set statement_timeout = 0; set lock_timeout = ${LOCK_MS};
  set idle_in_transaction_session_timeout = 0`;

interface Table {
  readonly name: string;
  readonly columns: string[];
}

/** Runs `work` on a connection whose rows come as the text that backups hold. */
export async function withRecord<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    application_name: "voice-backup",
    keepAlive: true,
  });
  client.on("error", () => undefined);
  try {
    await client.connect().catch((error: unknown) => {
      throw new StepError(
        `the database does not let a backup in (${errorCode(error)})`,
        "look whether it runs, and whether --data, DATABASE_URL or DATABASE_OWNER_URL are the service's",
      );
    });
    await client.query(TEXT_SETTINGS);
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

interface Dump {
  readonly url: string;
  readonly objects: ObjectFolder;
  readonly signal: AbortSignal;
  /** Gets lines of the files that the record names, in its snapshot. */
  readonly takeNamed: (lines: AsyncIterable<Buffer>) => Promise<void>;
  /** Gets the logs of streams of its snapshot, at once. */
  readonly takeLogs: (logs: readonly OpenLog[]) => Promise<void>;
  readonly note: (text: string) => void;
}

/** All tables and sequences of one moment, and which files of sound they name. */
export function dumpRecord(dump: Dump): Promise<RecordFacts> {
  const { url, objects, signal, takeNamed, takeLogs, note } = dump;
  return withRecord(url, async (client) => {
    const end = () => void client.end().catch(() => undefined);
    signal.addEventListener("abort", end, { once: true });
    try {
      await client.query("begin isolation level repeatable read, read only");
      const at = await momentOf(client);
      const migrations = await migrationsOf(client);
      await takeLogs(await openLogsOf(client));
      await takeNamed(copyOut(client, NAMED_SOUND));
      const tables: StoredTable[] = [];
      for (const table of await tablesOf(client)) {
        signal.throwIfAborted();
        note(table.name);
        tables.push(await dumpTable(client, objects, table));
      }
      const sequences = await sequencesOf(client);
      await client.query("commit");
      return { at, migrations, tables, sequences };
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener("abort", end);
    }
  });
}

/** The rows of a table as text, and their number. */
export async function* rowsOf(
  client: Client,
  { name, columns }: Table,
  told: { rows: number },
): AsyncGenerator<Buffer> {
  const list = columns.map((each) => client.escapeIdentifier(each)).join(", ");
  yield* copyOut(client, `public.${client.escapeIdentifier(name)} (${list})`, told);
}

async function dumpTable(client: Client, objects: ObjectFolder, table: Table) {
  const told = { rows: 0 };
  const stream = await storeStream(objects, rowsOf(client, table, told));
  return { ...table, ...stream, rows: told.rows };
}

async function* copyOut(
  client: Client,
  what: string,
  told: { rows: number } = { rows: 0 },
): AsyncGenerator<Buffer> {
  const stream = client.query(to(`copy ${what} to stdout`));
  for await (const piece of stream) yield piece as Buffer;
  told.rows = stream.rowCount;
}

async function momentOf(client: Client): Promise<string> {
  const { rows } = await client.query<{ at: string }>(
    `select to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at`,
  );
  return rows[0]?.at ?? "";
}

async function migrationsOf(client: Client): Promise<RecordFacts["migrations"]> {
  const { rows: known } = await client.query<{ there: boolean }>(
    "select to_regclass('public.schema_migrations') is not null as there",
  );
  const { rows } = known[0]?.there
    ? await client.query<{ name: string; checksum: string }>(
        "select name, checksum from schema_migrations order by name",
      )
    : { rows: [] };
  if (rows.some(({ name }) => name >= OLDEST)) return rows;
  throw new StepError(
    rows.length === 0
      ? "this database holds no sessions service yet"
      : "this database is of a release that is too old for this backup",
    rows.length === 0
      ? "start the service once, or correct DATABASE_URL"
      : "stop the service and copy the folder (deploy/upkeep.md), then upgrade",
  );
}

/** Without generated columns, which come by themselves. */
export async function tablesOf(client: Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(`
    select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
      and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    group by c.relname order by c.relname`);
  return rows;
}

/** `last` is null for one that was never used. */
async function sequencesOf(client: Client): Promise<RecordFacts["sequences"]> {
  const { rows } = await client.query<{ name: string; last: string | null }>(`
    select sequencename as name, last_value::text as last from pg_sequences
    where schemaname = 'public' order by sequencename`);
  return rows;
}

/** A file by the record as it is now; undefined when that does not name it. */
export async function lookUpSound(
  url: string,
  { session, name }: NamedSound,
): Promise<NamedSound | undefined> {
  const { rows } = await withRecord(url, (client) =>
    client.query<{ digests: string; damaged: boolean; bytes: string }>(ONE_NAMED_SOUND, [
      session,
      name,
    ]),
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  const { digests, damaged: isDamaged, bytes } = row;
  return { session, name, digests: digestsOf(digests), isDamaged, bytes: Number(bytes) };
}

const LEDGER_MS = 30_000;
const LOOK_MS = 250;

/**
 * Waits until what was erased so far is in a file of the ledger; how many are not after half a minute,
 * as where the service stands still.
 */
export function waitForLedger(url: string, signal: AbortSignal): Promise<number> {
  return withRecord(url, async (client) => {
    const pending = async (ids?: string[]) => {
      const { rows } = await client.query<{ id: string }>(
        `select subject_id as id from erasures
         where chain is null and ($1::uuid[] is null or subject_id = any($1))`,
        [ids ?? null],
      );
      return rows.map(({ id }) => id);
    };
    const end = performance.now() + LEDGER_MS;
    let left = await pending();
    while (left.length > 0 && performance.now() < end) {
      await delay(LOOK_MS, undefined, { signal });
      left = await pending(left);
    }
    return left.length;
  });
}
