import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../supervisor/error-code.ts";
import { diskFault } from "./faults.ts";
import type { Manifest } from "./manifest.ts";
import type { ObjectFolder } from "./objects.ts";

type Ledger = Manifest["ledger"];

const NAME = /^[0-9a-f-]{36}-\d{6,9}\.json$/;

/**
 * The ledger of a live folder together with those of earlier backups: no file of it ever changes, and a
 * backup that is removed takes none along.
 */
export async function storeLedger(
  objects: ObjectFolder,
  folder: string,
  earlier: readonly Ledger[],
): Promise<Ledger> {
  const known = new Map(earlier.flat().map((each) => [each.name, each]));
  for (const name of await namesIn(folder)) {
    if (known.has(name)) continue;
    const { sha256 } = await objects.putBytes(await readFile(join(folder, name)));
    known.set(name, { name, sha256 });
  }
  return [...known.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Names of the ledger's files in a folder; none where there is no folder. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => NAME.test(name));
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw diskFault(error, folder);
  }
}
