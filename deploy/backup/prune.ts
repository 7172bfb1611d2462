import type { BackupFolder } from "./backup-folder.ts";
import type { Manifest } from "./manifest.ts";
import { linesOf, readStream } from "./streams.ts";

/** A file of sound in a backup. */
export interface KeptSound {
  readonly session: string;
  readonly name: string;
  readonly sha256: string;
  readonly bytes: number;
}

/** Files of sound of a backup. Throws `DamagedObject`. */
export async function* soundOf(
  folder: BackupFolder,
  { sound }: Manifest,
): AsyncGenerator<KeptSound> {
  for await (const line of linesOf(readStream(folder.objects, sound.list))) {
    const [session = "", name = "", sha256 = "", bytes] = line.split(" ");
    yield { session, name, sha256, bytes: Number(bytes) };
  }
}

/** Everything but the sound itself that a backup consists of, SHA-256 in hex. */
export function partsOf({ record, sound, files, ledger }: Manifest): string[] {
  return [
    ...record.tables.flatMap(({ pieces }) => pieces),
    ...sound.list.pieces,
    ...files.map(({ sha256 }) => sha256),
    ...ledger.map(({ sha256 }) => sha256),
  ];
}

/** Removes all but the newest backups, and what they alone held. */
export async function pruneBackups(
  folder: BackupFolder,
  keep: number,
  signal: AbortSignal,
): Promise<{ backups: number; bytes: number }> {
  const names = await folder.list();
  const dropped = names.slice(0, -keep);
  const wanted = new Set<string>();
  // What stays is read first: when one of them cannot be, nothing is removed.
  for (const name of names.slice(-keep)) {
    const manifest = await folder.read(name);
    for (const part of partsOf(manifest)) wanted.add(part);
    for await (const { sha256 } of soundOf(folder, manifest)) wanted.add(sha256);
  }
  signal.throwIfAborted();
  for (const name of dropped) await folder.drop(name);
  const { bytes } = await folder.objects.keepOnly(wanted, signal);
  return { backups: dropped.length, bytes };
}
