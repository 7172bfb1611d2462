import { mkdir, readdir, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../../../base/errors.ts";
import type { DiskState } from "../durable-files/audio-watch.ts";

const LEFT_OVER_MS = 60 * 60 * 1000;

/** Folders of this machine for files that are being received. */
export class ReceivingFolders {
  readonly temporaryFolder: string;
  readonly uploadsFolder: string;

  constructor(folder: string) {
    this.temporaryFolder = join(folder, "tmp");
    this.uploadsFolder = join(folder, "uploads");
  }

  /**
   * Creates the folders, and removes partial uploads that are an hour old or older; what cannot be
   * removed now is left to the next start.
   */
  async start(): Promise<void> {
    await mkdir(this.temporaryFolder, { recursive: true });
    for (const name of await readdir(this.temporaryFolder)) {
      const path = join(this.temporaryFolder, name);
      // Another process may use the same folder and rename the file meanwhile.
      const found = await stat(path).catch(() => undefined);
      if (found !== undefined && Date.now() - found.mtimeMs > LEFT_OVER_MS) {
        await rm(path, { recursive: true, force: true }).catch(() => {});
      }
    }
  }

  /** Removes whole files that are being received for a session; returns how many. */
  async removeUploads(sessionId: string): Promise<number> {
    const folder = join(this.uploadsFolder, sessionId);
    const names = await readdir(folder).catch(emptyWhenGone);
    await rm(folder, { recursive: true, force: true });
    return names.length;
  }

  /** Room on their disk, bytes; undefined where it does not tell. */
  async room(): Promise<DiskState["room"]> {
    const found = await statfs(this.temporaryFolder).catch(() => undefined);
    if (found === undefined) return undefined;
    return { free: found.bavail * found.bsize, size: found.blocks * found.bsize };
  }
}

export function emptyWhenGone(error: unknown): string[] {
  if (errnoOf(error) !== "ENOENT") throw error;
  return [];
}
