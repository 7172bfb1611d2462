import { join } from "node:path";
import { runStep, type Screen } from "../setup/screen.mjs";
import { StepError } from "../setup/step-error.mjs";
import { BackupFolder } from "./backup-folder.ts";
import { type Created, createBackup } from "./create.ts";
import { openInstallation } from "./installation.ts";
import type { Lack, Manifest } from "./manifest.ts";
import type { BackupOptions } from "./options.ts";
import { counted, megabytes } from "./progress.ts";
import { pruneBackups } from "./prune.ts";
import { restoreBackup } from "./restore.ts";
import { verifyBackup } from "./verify.ts";

interface Run {
  readonly options: BackupOptions;
  readonly project: string;
  readonly release: string;
  readonly env: NodeJS.ProcessEnv;
  readonly screen: Screen;
  readonly signal: AbortSignal;
}

const SHOWN = 10;
const LACKS: Record<Lack["why"], string> = {
  gone: "its file is gone",
  changed: "its file holds other bytes than were stored",
  unreadable: "the disk does not give its file",
};

/** Resolves with the exit code; throws a StepError. */
export function runBackup(run: Run): Promise<number> {
  switch (run.options.action) {
    case "create":
      return create(run);
    case "list":
      return list(run);
    case "verify":
      return verify(run);
    case "restore":
      return restore(run);
  }
}

async function create(run: Run): Promise<number> {
  const { options, project, env, screen, signal, release } = run;
  const data = options.data ?? (env.VOICE_DATA || join(project, "data"));
  const installation = await openInstallation({ project, data, env, screen, signal });
  try {
    const { store } = installation;
    const folder = await BackupFolder.open(options.folder, { ...options, store });
    try {
      const created = await createBackup({ installation, folder, release, screen, signal });
      const code = tellCreated(run, created, installation.keys === undefined);
      const { keep } = options;
      if (keep !== undefined) {
        await runStep(screen, "older backups", async () => {
          const { backups, bytes } = await pruneBackups(folder, keep, signal);
          return `${counted(backups, "backup")} removed, ${megabytes(bytes)}`;
        });
      }
      return code;
    } finally {
      folder.close();
    }
  } finally {
    await installation.close();
  }
}

function tellCreated(
  run: Run,
  { manifest, written, unnoted }: Created,
  hasNoKeys: boolean,
): number {
  const { options, screen } = run;
  const { lacking, erased } = manifest.sound;
  const news = lacking.filter(({ isKnown }) => !isKnown);
  if (options.json) {
    print({
      ...summaryOf(manifest),
      written_bytes: written.bytes,
      lacking,
      folder: options.folder,
    });
  } else {
    process.stdout.write(
      `Backup ${manifest.name}: ${describe(manifest)}; ${megabytes(written.bytes)} were new.\n`,
    );
  }
  if (hasNoKeys) screen.warn("the keys come from VOICE_KEYS and are not in the backup: keep them");
  if (erased > 0) screen.line(`  ${counted(erased, "file")} went with sessions that were erased.`);
  if (unnoted > 0) {
    screen.warn(
      `${counted(unnoted, "erasure")} are not in the ledger yet: the next backup has them`,
    );
  }
  tellLacking(screen, lacking);
  return news.length === 0 ? 0 : 1;
}

function tellLacking(screen: Screen, lacking: readonly Lack[]): void {
  if (lacking.length === 0) return;
  screen.warn(
    `the backup was made without ${counted(lacking.length, "file")} of sound that the record names:`,
  );
  for (const { session, name, why, isKnown } of lacking.slice(0, SHOWN)) {
    const known = isKnown ? " (known)" : "";
    screen.line(`  session ${session}, ${name.slice(0, 12)}…: ${LACKS[why]}${known}`);
  }
  const more = lacking.length - SHOWN;
  if (more > 0) screen.line(`  and ${more} more`);
  screen.line("  voice admin audio verify tells more; a device that still has it sends it again.");
}

async function list({ options }: Run): Promise<number> {
  return inFolder(options, async (folder) => {
    const names = await folder.list();
    for (const name of names) {
      const manifest = await folder.read(name);
      if (options.json) print(summaryOf(manifest));
      else process.stdout.write(`${name}  ${describe(manifest)}\n`);
    }
    if (names.length === 0 && !options.json) process.stdout.write("There is no backup yet.\n");
    return 0;
  });
}

async function verify({ options, screen, signal }: Run): Promise<number> {
  return inFolder(options, async (folder) => {
    const manifest = await folder.read(options.at);
    const { damaged, ...verified } = await verifyBackup({ folder, manifest, screen, signal });
    if (options.json) print({ ...summaryOf(manifest), ...verified, damaged });
    if (damaged.length > 0) {
      for (const each of damaged.slice(0, SHOWN)) screen.line(`  ${each}`);
      throw new StepError(
        `${damaged.length} damaged in the backup ${manifest.name}`,
        "make another backup: it copies again what is still there",
      );
    }
    if (!options.json) {
      process.stdout.write(`Backup ${manifest.name} is whole: ${describe(manifest)}.\n`);
    }
    tellLacking(screen, manifest.sound.lacking);
    return 0;
  });
}

async function restore({ options, project, env, screen, signal }: Run): Promise<number> {
  const target = options.data;
  if (target === undefined) {
    throw new StepError("where to restore is not said", "name a new folder: --data DIR");
  }
  return inFolder(options, async (folder) => {
    const manifest = await folder.read(options.at);
    const { ledgers } = options;
    const restored = await restoreBackup({
      ...{ project, folder, manifest, target, ledgers, env, screen, signal },
    });
    if (options.json) print({ ...summaryOf(manifest), ...restored, data: target });
    else {
      process.stdout.write(
        `Restored ${manifest.name} to ${target}, and compared: ${describe(manifest)}.\n`,
      );
    }
    tellLacking(screen, manifest.sound.lacking);
    if (ledgers.length === 0) {
      const newest = (await folder.list()).at(-1) ?? manifest.name;
      screen.line(
        `  What was erased after ${newest} comes back, unless you bring the ledger of erasures along:\n  copy the files of OLD/blobs/erasures to ${join(target, "blobs/erasures")} before the start.`,
      );
    }
    screen.line(`  Start it: npm run up -- --no-demo --data ${target}`);
    return 0;
  });
}

async function inFolder(
  { folder: path, passphrase }: BackupOptions,
  work: (folder: BackupFolder) => Promise<number>,
): Promise<number> {
  const folder = await BackupFolder.open(path, { passphrase });
  try {
    return await work(folder);
  } finally {
    folder.close();
  }
}

function describe({ record, sound }: Manifest): string {
  const rows = record.tables.reduce((sum, table) => sum + table.rows, 0);
  const tables = counted(record.tables.length, "table");
  return `${tables} with ${counted(rows, "row")}, ${counted(sound.files, "file")} of sound (${megabytes(sound.bytes)})`;
}

function summaryOf({ name, release, record, sound }: Manifest) {
  const rows = record.tables.reduce((sum, table) => sum + table.rows, 0);
  const counts = { tables: record.tables.length, rows, files: sound.files, bytes: sound.bytes };
  return { name, at: record.at, release, ...counts, lacking: sound.lacking.length };
}

function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
