import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { chmod, lstat, mkdir, open, readFile, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { runStep, type Screen } from "../setup/screen.mjs";
import { StepError } from "../setup/step-error.mjs";
import { DataFolder } from "../supervisor/data-folder.ts";
import { withinReach } from "../supervisor/muster.ts";
import { removeOutsideCluster } from "../supervisor/postgres/place.ts";
import { isRunning } from "../supervisor/process-identity.ts";
import { readRunRecord } from "../supervisor/run-record.ts";
import type { BackupFolder } from "./backup-folder.ts";
import { diskFault } from "./faults.ts";
import { namesIn } from "./ledger-files.ts";
import type { Manifest } from "./manifest.ts";
import { DamagedObject, syncFolder } from "./objects.ts";
import { startDatabase } from "./private-database.ts";
import { counted, megabytes } from "./progress.ts";
import { soundOf } from "./prune.ts";
import { checkMigrations, compareRecord, loadRecord } from "./record-load.ts";

interface Restoration {
  readonly project: string;
  readonly folder: BackupFolder;
  readonly manifest: Manifest;
  /** The data folder to be made. */
  readonly target: string;
  /** Folders of other ledgers, as of the live installation. */
  readonly ledgers: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly screen: Screen;
  readonly signal: AbortSignal;
}

/** What was restored and compared. */
export interface Restored {
  readonly tables: number;
  readonly rows: number;
  readonly files: number;
  readonly bytes: number;
  /** Files of the ledger of erasures, of all backups and of `ledgers`. */
  readonly ledgerFiles: number;
}

/**
 * Makes a data folder of a backup, beside its place, and gives it its name when all of it was compared.
 * What was erased is erased again by the first start, before it serves anybody.
 */
export async function restoreBackup(restoration: Restoration): Promise<Restored> {
  const { project, manifest, target, screen } = restoration;
  await checkMigrations(project, manifest.record);
  await checkTarget(target);
  const ledgers = await otherLedgers(restoration);
  const data = await begin(`${target}.restoring`, screen);
  try {
    await restoreFiles(restoration, data);
    const record = await restoreRecord(restoration, data);
    const sound = await restoreSound(restoration, data);
    const ledgerFiles = await restoreLedger(restoration, data, ledgers);
    await finish(data, target);
    data.release();
    return { ...record, ...sound, ledgerFiles };
  } catch (error) {
    await undo(data, `${target}.restoring`);
    throw error instanceof DamagedObject ? damaged(manifest, error) : error;
  }
}

async function checkTarget(target: string): Promise<void> {
  const found = await lstat(target).catch(() => undefined);
  if (found === undefined) return;
  const holder = readRunRecord(join(target, "run.json"))?.supervisor;
  if (holder !== undefined && isRunning(holder)) {
    throw new StepError(
      `a service is running on ${target} (pid ${holder.pid})`,
      "restore into a new folder (--data DIR), and start the service on that",
    );
  }
  if (found.isDirectory() && readdirSync(target).length === 0) return;
  throw new StepError(
    `${target} is not empty`,
    "restore into a new folder (--data DIR); to use the old name put the old folder aside first (mv)",
  );
}

/** Reads them before anything is made. */
async function otherLedgers({ ledgers }: Restoration): Promise<string[]> {
  const files: string[] = [];
  for (const folder of ledgers) {
    const names = await namesIn(folder);
    if (names.length === 0) {
      throw new StepError(
        `there is no file of a ledger of erasures in ${folder}`,
        "name the folder erasures of an audio folder: --ledger OLD/blobs/erasures",
      );
    }
    files.push(...names.map((name) => join(folder, name)));
  }
  return files;
}

/** What an interrupted restore left is removed. */
async function begin(path: string, screen: Screen): Promise<DataFolder> {
  try {
    await mkdir(dirname(path), { recursive: true });
  } catch (error) {
    throw diskFault(error, dirname(path));
  }
  const data = await DataFolder.open(path);
  if (process.getuid?.() === 0) removeOutsideCluster(data);
  data.clear();
  return withinReach(data, screen);
}

async function restoreFiles({ manifest, folder }: Restoration, data: DataFolder): Promise<void> {
  for (const { path, sha256 } of manifest.files) {
    await restoreFile(folder, sha256, data.file(path));
  }
}

/** One that is there whole is left as it is. */
async function restoreFile(folder: BackupFolder, sha256: string, path: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const file = await open(path, "w", 0o600);
    try {
      for await (const piece of folder.objects.read(sha256)) await file.writeFile(piece);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    throw error instanceof DamagedObject ? error : diskFault(error, dirname(path));
  }
}

function restoreRecord(restoration: Restoration, data: DataFolder) {
  const { project, manifest, folder, env, screen, signal } = restoration;
  return runStep(screen, "record", async (step) => {
    step.note("PostgreSQL");
    const database = await startDatabase({ project, data, env, signal, step });
    try {
      const note = (text: string) => step.note(text);
      const { record } = manifest;
      const load = { project, record, objects: folder.objects, database, signal, note };
      await loadRecord(load);
      const rows = await compareRecord(load);
      return { tables: record.tables.length, rows };
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      await database.stop();
    }
  });
}

/** Each file is compared with its digest while it is written. */
function restoreSound({ manifest, folder, screen, signal }: Restoration, data: DataFolder) {
  return runStep(screen, "sound", async (step) => {
    const done = { files: 0, bytes: 0 };
    const total = megabytes(manifest.sound.bytes);
    const folders = new Set<string>();
    for await (const { session, name, sha256, bytes } of soundOf(folder, manifest)) {
      signal.throwIfAborted();
      await restoreFile(folder, sha256, data.file("blobs", session, name));
      folders.add(session);
      done.files += 1;
      done.bytes += bytes;
      step.note(`${counted(done.files, "file")}, ${megabytes(done.bytes)} of ${total}`);
    }
    for (const session of folders) await syncFolder(data.file("blobs", session));
    await syncFolder(data.file("blobs"));
    return done;
  });
}

/** Of all backups of the folder: erasures that a later one knows are to hold for an earlier one. */
async function restoreLedger(
  { folder, manifest, screen }: Restoration,
  data: DataFolder,
  others: readonly string[],
): Promise<number> {
  const target = data.file("blobs", "erasures");
  await mkdir(target, { recursive: true, mode: 0o700 });
  const known = new Map(manifest.ledger.map(({ name, sha256 }) => [name, sha256]));
  for (const each of await folder.list()) {
    try {
      const { ledger } = await folder.read(each);
      for (const { name, sha256 } of ledger) known.set(name, sha256);
    } catch (error) {
      if (!(error instanceof StepError)) throw error;
      screen.warn(error.message);
    }
  }
  for (const [name, sha256] of known) await restoreFile(folder, sha256, join(target, name));
  for (const source of others) await copyLedgerFile(source, target);
  await syncFolder(target);
  return (await namesIn(target)).length;
}

/** No file of a ledger ever changes: two of one name that differ are not of one installation. */
async function copyLedgerFile(source: string, folder: string): Promise<void> {
  const content = await readFile(source);
  const path = join(folder, source.slice(source.lastIndexOf("/") + 1));
  if (existsSync(path)) {
    const digest = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
    if (digest(await readFile(path)) === digest(content)) return;
    throw new StepError(
      `${source} is not the file of this name in the backup`,
      "one of both was changed or cut off: look at them, and leave the wrong one out",
    );
  }
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function finish(data: DataFolder, target: string): Promise<void> {
  const before = `${target}.restoring`;
  await chmod(data.path, process.getuid?.() === 0 ? 0o711 : 0o700);
  if (existsSync(target)) await rmdir(target);
  await rename(before, target);
  await syncFolder(dirname(target));
}

async function undo(data: DataFolder, path: string): Promise<void> {
  if (process.getuid?.() === 0) removeOutsideCluster(data);
  await rm(data.path, { recursive: true, force: true });
  await rm(path, { recursive: true, force: true });
  data.release();
}

function damaged({ name }: Manifest, { message }: DamagedObject): StepError {
  return new StepError(
    `the backup ${name} is damaged: ${message}`,
    "take another one (voice admin backup list), or a copy of this folder; voice admin backup verify tells what is damaged",
  );
}
