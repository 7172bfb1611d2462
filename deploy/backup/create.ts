import { createWriteStream } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { runStep, type Screen } from "../setup/screen.mjs";
import { StepError } from "../setup/step-error.mjs";
import type { BackupFolder } from "./backup-folder.ts";
import type { Installation } from "./installation.ts";
import { storeLedger } from "./ledger-files.ts";
import type { Manifest, RecordFacts, SoundFacts } from "./manifest.ts";
import { type CopiedLogs, copyLogs, NO_LOGS, RecordMovedOn } from "./open-logs.ts";
import { counted, megabytes } from "./progress.ts";
import { dumpRecord, lookUpSound, waitForLedger } from "./record-dump.ts";
import { SoundCopier } from "./sound-copy.ts";

/** New snapshots, when spans are silenced, or streams erased, while the sound is copied. */
const ROUNDS = 5;

interface Creation {
  readonly installation: Installation;
  readonly folder: BackupFolder;
  readonly release: string;
  readonly screen: Screen;
  readonly signal: AbortSignal;
}

/** What a backup came to. */
export interface Created {
  readonly manifest: Manifest;
  /** What was not in the folder before. */
  readonly written: { objects: number; bytes: number };
  /** Erasures that the service had not brought into the ledger yet. */
  readonly unnoted: number;
}

/**
 * Makes one backup. The record's snapshot comes first and the sound that it names after it: sound is on
 * the disk before the record names it, so all of it is there but for what was erased since. The ledger
 * of erasures comes last, so it tells of those. Until the manifest has its name there is no backup.
 */
export async function createBackup(creation: Creation): Promise<Created> {
  const { installation, folder, screen, signal } = creation;
  const earlier = await earlierLedgers(folder, screen);
  const { record, sound } = await recordAndSound(creation);
  const files = await runStep(screen, "keys and secrets", () => storeFiles(creation));
  const unnoted = installation.isServed ? await waitForLedger(installation.url, signal) : 0;
  const ledger = await storeLedger(folder.objects, join(installation.audio, "erasures"), earlier);
  signal.throwIfAborted();
  const { release } = creation;
  const manifest = await folder.finish({ release, record, sound, files, ledger });
  return { manifest, written: { ...folder.objects.written }, unnoted };
}

async function earlierLedgers(folder: BackupFolder, screen: Screen): Promise<Manifest["ledger"][]> {
  const ledgers: Manifest["ledger"][] = [];
  for (const name of await folder.list()) {
    try {
      ledgers.push((await folder.read(name)).ledger);
    } catch (error) {
      if (!(error instanceof StepError)) throw error;
      screen.warn(error.message);
    }
  }
  return ledgers;
}

async function recordAndSound(
  creation: Creation,
): Promise<{ record: RecordFacts; sound: SoundFacts }> {
  const scratch = await mkdtemp(join(tmpdir(), "voice-backup-"));
  try {
    for (let round = 1; ; round += 1) {
      const named = join(scratch, `sound-${round}`);
      try {
        const { record, logs } = await copyRecord(creation, named);
        return { record, sound: await copySound(creation, named, logs) };
      } catch (error) {
        if (!(error instanceof RecordMovedOn)) throw error;
        if (round === ROUNDS) throw tooBusy();
        creation.screen.line("Sound was changed meanwhile: the record is read again.");
      }
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function copyRecord(
  creation: Creation,
  named: string,
): Promise<{ record: RecordFacts; logs: CopiedLogs }> {
  const { installation, folder, screen, signal } = creation;
  const { audio, url } = installation;
  let logs = NO_LOGS;
  const record = await runStep(screen, "record", (step) =>
    dumpRecord({
      ...{ url, objects: folder.objects, signal },
      note: (text) => step.note(text),
      takeLogs: async (open) => {
        logs = await copyLogs(open, { folder: audio, objects: folder.objects, signal });
      },
      takeNamed: (lines) => pipeline(lines, createWriteStream(named, { mode: 0o600 }), { signal }),
    }),
  );
  return { record, logs };
}

function copySound(creation: Creation, named: string, logs: CopiedLogs): Promise<SoundFacts> {
  const { installation, folder, screen, signal } = creation;
  return runStep(screen, "sound", (step) => {
    const copier = new SoundCopier({
      ...{ named, logs, signal, folder: installation.audio },
      lookUp: (file) => lookUpSound(installation.url, file),
      objects: folder.objects,
      note: ({ files, bytes }) => step.note(`${counted(files, "file")}, ${megabytes(bytes)}`),
    });
    return copier.run();
  });
}

/** Passwords of the installation, signing keys, and the mark of its audio folder. */
async function storeFiles({ installation, folder }: Creation): Promise<Manifest["files"]> {
  const { data, audio, keys } = installation;
  const wanted: [path: string, source: string][] = [
    ["secrets.json", join(data, "secrets.json")],
    ["blobs/store-id", join(audio, "store-id")],
  ];
  if (keys !== undefined) {
    for (const entry of await readdir(keys, { withFileTypes: true })) {
      if (entry.isFile()) wanted.push([`keys/${entry.name}`, join(keys, entry.name)]);
    }
  }
  const files: Manifest["files"] = [];
  for (const [path, source] of wanted) {
    files.push({ path, ...(await folder.objects.putBytes(await readFile(source))) });
  }
  return files;
}

function tooBusy(): StepError {
  return new StepError(
    `sound was silenced or removed under each of ${ROUNDS} attempts`,
    "do it again when the redactions and deletions under way are done",
  );
}
