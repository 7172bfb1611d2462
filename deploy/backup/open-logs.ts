import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Client } from "pg";
import { StepError } from "../setup/step-error.mjs";
import { errorCode } from "../supervisor/error-code.ts";
import { diskFault } from "./faults.ts";
import type { ObjectFolder } from "./objects.ts";

/**
 * A file was silenced or removed after the record's snapshot: words and sound would not be of one moment, so
 * a new snapshot is to be taken.
 */
export class RecordMovedOn extends Error {}

/** Logs that are copied at a time. */
const AT_ONCE = 4;

/** The log of a chunk that was being streamed at the moment of the record's snapshot. */
export interface OpenLog {
  readonly session: string;
  /** Of the file below the session. */
  readonly name: string;
}

/** Logs that were copied. */
export interface CopiedLogs {
  readonly files: number;
  readonly bytes: number;
  /** For each: session, name, SHA-256 of what it holds, bytes. */
  readonly lines: readonly string[];
}

export const NO_LOGS: CopiedLogs = { files: 0, bytes: 0, lines: [] };

/** None in a record of a release whose streams were in the record itself. */
export async function openLogsOf(client: Client): Promise<OpenLog[]> {
  const { rows: known } = await client.query(`
    select from pg_attribute
    where attrelid = to_regclass('public.audio_pieces') and attname = 'log' and not attisdropped`);
  if (known.length === 0) return [];
  const { rows } = await client.query<OpenLog>(`
    select p.session_id as session, p.log || '.log' as name
    from audio_pieces p join sessions s on s.id = p.session_id
    where p.log is not null and s.status <> 'deleted' order by 1, 2`);
  return rows;
}

interface LogCopy {
  /** The audio folder. */
  readonly folder: string;
  readonly objects: ObjectFolder;
  readonly signal: AbortSignal;
}

/**
 * Copies logs, right after the snapshot: each stays for a minute after its chunk was stored. What was
 * written to one since is behind what the snapshot counts. Throws `RecordMovedOn` when one has gone.
 */
export async function copyLogs(
  logs: readonly OpenLog[],
  { folder, objects, signal }: LogCopy,
): Promise<CopiedLogs> {
  const lines: string[] = [];
  let bytes = 0;
  for (let at = 0; at < logs.length; at += AT_ONCE) {
    signal.throwIfAborted();
    const copies = logs.slice(at, at + AT_ONCE).map(async ({ session, name }) => {
      const object = await objects.putFile(join(folder, session, name));
      bytes += object.bytes;
      lines.push(`${session} ${name} ${object.sha256} ${object.bytes}\n`);
    });
    await Promise.all(copies).catch(async (error: unknown) => {
      if (errorCode(error) !== "ENOENT") throw diskFault(error, folder);
      await assertThere(folder);
      throw new RecordMovedOn();
    });
  }
  return { files: lines.length, bytes, lines: lines.sort() };
}

/** All are gone when the disk is. */
export async function assertThere(folder: string): Promise<void> {
  await stat(folder).catch(() => {
    throw new StepError(
      `the audio folder ${folder} is not there`,
      "mount its disk, and do it again",
    );
  });
}
