import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf, isAppError, systemFault } from "../../../base/errors.ts";
import { newId } from "../../../base/ids.ts";
import { sha256Of } from "../integrity/sha256.ts";
import type { AudioStore } from "./audio-store.ts";

/** Longer files are copied to the disk, bytes. */
const MOST_IN_MEMORY = 8 * 1024 * 1024;

type CopyOfFile = ({ kind: "memory"; data: Buffer } | { kind: "file"; path: string }) & {
  /** SHA-256 in hex of what was read. */
  sha256: string;
  /** Repeatable; also when the file was taken over. */
  remove(): Promise<void>;
};

/**
 * Reads a stored file, to be stored elsewhere; undefined when there is none. Rejects with `unavailable` when
 * the store is away, `storage_full` when `folder` has no room, or the system's error of this one file.
 *
 * @param folder of this machine, for a file that is not held in memory
 */
export async function copyOfFile(
  store: AudioStore,
  { sessionId, sha256 }: { sessionId: string; sha256: string },
  folder: string,
): Promise<CopyOfFile | undefined> {
  const lent = await store.lend(sessionId, sha256, undefined);
  try {
    const { size } = await stat(lent.path);
    if (size > MOST_IN_MEMORY) return await copyToDisk(lent.path, join(folder, newId()));
    const data = await readFile(lent.path);
    return { kind: "memory", data, sha256: await sha256Of(data), remove: async () => {} };
  } catch (error) {
    if (errnoOf(error) === "ENOENT") {
      await store.assertThere();
      return undefined;
    }
    const fault = systemFault(error);
    throw isAppError(fault, "storage_full") ? fault : error;
  } finally {
    lent.release();
  }
}

async function copyToDisk(from: string, path: string): Promise<CopyOfFile> {
  const remove = () => rm(path, { force: true });
  const file = await open(path, "wx", 0o600);
  const hash = createHash("sha256");
  try {
    for await (const part of createReadStream(from)) {
      hash.update(part as Buffer);
      await file.writeFile(part as Buffer);
    }
  } catch (error) {
    await file.close();
    await remove();
    throw error;
  }
  await file.close();
  return { kind: "file", path, sha256: hash.digest("hex"), remove };
}
