import { runStep, type Screen } from "../setup/screen.mjs";
import { StepError } from "../setup/step-error.mjs";
import type { BackupFolder } from "./backup-folder.ts";
import type { Manifest } from "./manifest.ts";
import { DamagedObject } from "./objects.ts";
import { counted, megabytes } from "./progress.ts";
import { partsOf, soundOf } from "./prune.ts";
import { linesOf, readStream } from "./streams.ts";

/** What was read and compared. */
export interface Verified {
  readonly tables: number;
  readonly rows: number;
  readonly files: number;
  readonly bytes: number;
  /** What is damaged, for people. */
  readonly damaged: readonly string[];
}

interface Verification {
  readonly folder: BackupFolder;
  readonly manifest: Manifest;
  readonly screen: Screen;
  readonly signal: AbortSignal;
}

/**
 * Reads all of a backup, and compares rows, checksums and lengths. What is damaged is put out of the
 * way, so that the next backup copies it again where it is still there.
 */
export async function verifyBackup(verification: Verification): Promise<Verified> {
  const { manifest, screen } = verification;
  const damaged: string[] = [];
  const rows = await runStep(screen, "record", () => verifyTables(verification, damaged));
  const sound = await runStep(screen, "sound", (step) =>
    verifySound(verification, damaged, (text) => step.note(text)),
  );
  return { tables: manifest.record.tables.length, rows, ...sound, damaged };
}

async function verifyTables(
  { folder, manifest, signal }: Verification,
  damaged: string[],
): Promise<number> {
  for (const part of new Set(partsOf(manifest))) {
    signal.throwIfAborted();
    await attempt(folder, part, `a part of record, keys or ledger (${part})`, damaged);
  }
  if (damaged.length > 0) return 0;
  let all = 0;
  for (const table of manifest.record.tables) {
    signal.throwIfAborted();
    let rows = 0;
    for await (const _row of linesOf(readStream(folder.objects, table))) rows += 1;
    if (rows !== table.rows) damaged.push(`the table ${table.name}: ${rows} of ${table.rows} rows`);
    all += rows;
  }
  return all;
}

async function verifySound(
  { folder, manifest, signal }: Verification,
  damaged: string[],
  note: (text: string) => void,
): Promise<{ files: number; bytes: number }> {
  const done = { files: 0, bytes: 0 };
  if (damaged.length > 0) return done;
  for await (const { session, name, sha256, bytes } of soundOf(folder, manifest)) {
    signal.throwIfAborted();
    const what = `sound of the session ${session} (${name})`;
    const read = await attempt(folder, sha256, what, damaged);
    if (read !== undefined && read !== bytes) damaged.push(`${what}: ${read} of ${bytes} bytes`);
    done.files += 1;
    done.bytes += bytes;
    note(`${counted(done.files, "file")}, ${megabytes(done.bytes)}`);
  }
  return done;
}

/** Its length; undefined when it is damaged. */
async function attempt(
  folder: BackupFolder,
  sha256: string,
  what: string,
  damaged: string[],
): Promise<number | undefined> {
  try {
    let bytes = 0;
    for await (const piece of folder.objects.read(sha256)) bytes += piece.byteLength;
    return bytes;
  } catch (error) {
    if (!(error instanceof DamagedObject)) throw error;
    damaged.push(`${what}: ${error.message}`);
    // On a disk that takes nothing it stays, and is told again.
    await folder.objects.discard(sha256).catch((fault: unknown) => {
      if (!(fault instanceof StepError)) throw fault;
    });
    return undefined;
  }
}
