import type { Stats } from "node:fs";
import {
  copyFile,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { AppError, errnoOf, systemFault } from "../../../base/errors.ts";
import { isId, newId } from "../../../base/ids.ts";
import type { QueueFigures } from "../../../base/queue-metrics.ts";
import type { UploadContent } from "../../../rest/route.ts";
import type { DiskState } from "../durable-files/audio-watch.ts";
import { BlobWriter } from "../durable-files/blob-writer.ts";
import { type HashedFile, sha256OfFile } from "../integrity/sha256.ts";
import type { AsideFile, AudioStore, LentFile, StoredFile, StoredLog } from "./audio-store.ts";
import { NamedFiles } from "./named-files.ts";
import { emptyWhenGone, ReceivingFolders } from "./receiving-folders.ts";

const SHA256 = /^[0-9a-f]{64}$/;
/** Folder of files that no chunk names, below it one for each session. */
const ASIDE = "set-aside";
const ASIDE_NAME = /^([0-9a-f]{64})\.(\d+)$/;

const LOG_SUFFIX = ".log";
/** A stream's messages that come within this time share a flush, milliseconds. */
const LOG_PACE_MS = 40;

/** Sessions per page. */
const PAGE = 500;

/**
 * Audio in a local folder: `<dir>/<session>/<sha256>`. Uploads should be received in
 * `temporaryFolder`, on the same file system, so that storing them is a rename.
 */
export class FolderBlobs implements AudioStore {
  readonly names: AudioStore["names"];
  readonly marks: NamedFiles;
  readonly ledger: NamedFiles;
  readonly #dir: string;
  readonly #folders: ReceivingFolders;
  readonly #writer: BlobWriter;

  constructor(dir: string) {
    this.#dir = dir;
    this.#folders = new ReceivingFolders(dir);
    this.names = { address: dir, kind: "folder", setting: "VOICE_BLOB_DIR" };
    this.marks = new NamedFiles(dir, this.temporaryFolder);
    this.ledger = new NamedFiles(join(dir, "erasures"), this.temporaryFolder);
    this.#writer = new BlobWriter({ base: dir, temporaryFolder: this.temporaryFolder });
  }

  get queues(): readonly QueueFigures[] {
    return [this.#writer.figures("audio_files")];
  }

  get temporaryFolder(): string {
    return this.#folders.temporaryFolder;
  }

  get uploadsFolder(): string {
    return this.#folders.uploadsFolder;
  }

  start(): Promise<void> {
    return this.#folders.start();
  }

  async stop(): Promise<void> {
    await this.#writer.stop();
  }

  probe(): Promise<DiskState> {
    return this.#writer.probe();
  }

  async lend(sessionId: string, sha256: string): Promise<LentFile> {
    return { path: this.#path(sessionId, sha256), release: () => {} };
  }

  async digest(sessionId: string, sha256: string): Promise<HashedFile> {
    const path = this.#path(sessionId, sha256);
    return sha256OfFile(path).catch((error: unknown) => {
      throw absent(error);
    });
  }

  async has(sessionId: string, sha256: string): Promise<boolean> {
    const path = this.#path(sessionId, sha256);
    try {
      await stat(path);
      return true;
    } catch (error) {
      await this.assertThere();
      if (errnoOf(error) !== "ENOENT") throw systemFault(error, true) ?? error;
      return false;
    }
  }

  async remove(sessionId: string, sha256: string): Promise<void> {
    await this.#removeOne(sessionId, this.#path(sessionId, sha256));
  }

  async #removeOne(sessionId: string, path: string): Promise<void> {
    await storing(async () => {
      await rm(path, { force: true });
      // One in which there is something, or which is gone, stays as it is.
      await rmdir(this.#folder(sessionId)).catch(() => {});
      await syncPath(this.#dir);
    });
  }

  async put(sessionId: string, sha256: string, temporaryPath: string): Promise<void> {
    await this.#write(sessionId, sha256, temporaryPath);
    // It is still there when the same file was being written already.
    await rm(temporaryPath, { force: true });
  }

  putBytes(sessionId: string, sha256: string, bytes: Uint8Array): Promise<void> {
    return this.#write(sessionId, sha256, bytes);
  }

  async read(sessionId: string, sha256: string): Promise<Buffer> {
    try {
      return await readFile(this.#path(sessionId, sha256));
    } catch (error) {
      await this.assertThere();
      throw absent(error);
    }
  }

  /** Without the folder itself its disk is not there, and no file is gone. */
  async assertThere(): Promise<void> {
    await stat(this.temporaryFolder).catch((cause: unknown) => {
      throw new AppError("unavailable", "The folder of the audio cannot be read just now.", {
        cause,
        retryAfter: 10,
      });
    });
  }

  async replace(sessionId: string, sha256: string, bytes: Uint8Array): Promise<void> {
    const path = this.#path(sessionId, sha256);
    const fresh = join(this.temporaryFolder, newId());
    await storing(async () => {
      try {
        await stat(path);
        await writeFile(fresh, bytes, { flush: true });
        // The folder is not created here: a deleted session stays deleted.
        await rename(fresh, path);
        await syncPath(this.#folder(sessionId));
      } finally {
        await rm(fresh, { force: true });
      }
    });
  }

  async restore(sessionId: string, sha256: string, content: UploadContent): Promise<void> {
    const path = this.#path(sessionId, sha256);
    const fresh = join(this.temporaryFolder, newId());
    await storing(async () => {
      try {
        if (content.kind === "memory") await writeFile(fresh, content.data, { flush: true });
        else {
          await copyFile(content.path, fresh);
          await syncPath(fresh);
        }
        await mkdir(this.#folder(sessionId), { recursive: true });
        await rename(fresh, path).catch(async (error: unknown) => {
          if (errnoOf(error) !== "EISDIR") throw error;
          await rm(path, { recursive: true });
          await rename(fresh, path);
        });
        await syncPath(this.#folder(sessionId));
        await syncPath(this.#dir);
      } finally {
        await rm(fresh, { force: true });
      }
    });
  }

  async delete(sessionId: string): Promise<number> {
    const folders = [this.#folder(sessionId), this.#asideFolder(sessionId)];
    return storing(async () => {
      let files = await this.#folders.removeUploads(sessionId);
      for (const folder of folders) {
        files += (await readdir(folder).catch(emptyWhenGone)).length;
        await rm(folder, { recursive: true, force: true });
      }
      await syncPath(this.#dir);
      return files;
    });
  }

  sessions(): AsyncIterable<readonly string[]> {
    return idsIn(this.#dir);
  }

  async files(sessionId: string): Promise<StoredFile[]> {
    const found = await this.#found(sessionId);
    return found.map(([sha256, { size }]) => ({ sha256, bytes: size }));
  }

  async olderThan(sessionId: string, instant: number): Promise<string[]> {
    const found = await this.#found(sessionId);
    return found.flatMap(([name, { mtimeMs }]) => (mtimeMs < instant ? [name] : []));
  }

  async #found(sessionId: string): Promise<[sha256: string, facts: Stats][]> {
    const names = await readdir(this.#folder(sessionId)).catch(emptyWhenGone);
    const found: [string, Stats][] = [];
    for (const name of names.filter((each) => SHA256.test(each))) {
      const facts = await stat(this.#path(sessionId, name)).catch(() => undefined);
      if (facts !== undefined) found.push([name, facts]);
    }
    return found;
  }

  /** It is moved before its age is checked, so that an upload that stores it again loses nothing. */
  async setAside(sessionId: string, sha256: string, before: number, now: number): Promise<boolean> {
    const path = this.#path(sessionId, sha256);
    const moved = join(this.temporaryFolder, newId());
    try {
      await rename(path, moved);
    } catch (error) {
      if (errnoOf(error) !== "ENOENT") throw error;
      return false;
    }
    const isOld = (await stat(moved)).mtimeMs < before;
    if (isOld) {
      const folder = this.#asideFolder(sessionId);
      await mkdir(folder, { recursive: true });
      await rename(moved, join(folder, `${sha256}.${Math.floor(now)}`));
      await syncPath(folder);
    } else await nameOnce(moved, path);
    await syncPath(this.#folder(sessionId));
    return isOld;
  }

  sessionsAside(): AsyncIterable<readonly string[]> {
    return idsIn(join(this.#dir, ASIDE));
  }

  async filesAside(sessionId: string): Promise<AsideFile[]> {
    const names = await readdir(this.#asideFolder(sessionId)).catch(emptyWhenGone);
    return names.flatMap((name) => {
      const [, sha256, since] = ASIDE_NAME.exec(name) ?? [];
      return sha256 === undefined ? [] : [{ sha256, since: Number(since) }];
    });
  }

  async putBack(sessionId: string, file: AsideFile): Promise<void> {
    await mkdir(this.#folder(sessionId), { recursive: true });
    await nameOnce(this.#asidePath(sessionId, file), this.#path(sessionId, file.sha256));
    await syncPath(this.#folder(sessionId));
  }

  async removeAside(sessionId: string, file: AsideFile): Promise<void> {
    await rm(this.#asidePath(sessionId, file), { force: true });
  }

  get logPaceMs(): number {
    return LOG_PACE_MS;
  }

  async appendLog(sessionId: string, log: string, at: number, bytes: Uint8Array): Promise<void> {
    const place = { folder: this.#folder(sessionId), path: this.#logPath(sessionId, log) };
    try {
      await this.#writer.append(place, at, bytes);
    } catch (error) {
      if (errnoOf(error) === "ENOENT") await this.assertThere();
      throw errnoOf(error) === "ENOENT" ? absent(error) : (systemFault(error, true) ?? error);
    }
  }

  async readLog(sessionId: string, log: string): Promise<Buffer> {
    try {
      return await readFile(this.#logPath(sessionId, log));
    } catch (error) {
      await this.assertThere();
      throw absent(error);
    }
  }

  async removeLog(sessionId: string, log: string): Promise<void> {
    await this.#removeOne(sessionId, this.#logPath(sessionId, log));
  }

  async logs(sessionId: string): Promise<StoredLog[]> {
    const names = await readdir(this.#folder(sessionId)).catch(emptyWhenGone);
    const found: StoredLog[] = [];
    for (const name of names.filter((each) => each.endsWith(LOG_SUFFIX))) {
      const facts = await stat(join(this.#folder(sessionId), name)).catch(() => undefined);
      if (facts === undefined) continue;
      found.push({ log: name.slice(0, -LOG_SUFFIX.length), at: facts.mtimeMs });
    }
    return found;
  }

  #logPath(sessionId: string, log: string): string {
    if (!isId(log)) throw new AppError("bad_request", "Not the id of a log.");
    return join(this.#folder(sessionId), `${log}${LOG_SUFFIX}`);
  }

  /** Checks the ids before the writer is used. */
  async #write(sessionId: string, sha256: string, content: Uint8Array | string): Promise<void> {
    this.#path(sessionId, sha256);
    const folder = this.#folder(sessionId);
    await storing(() => this.#writer.write({ folder, name: sha256, content }));
  }

  #folder(sessionId: string): string {
    if (!isId(sessionId)) throw new AppError("bad_request", "Not a session id.");
    return join(this.#dir, sessionId);
  }

  #asideFolder(sessionId: string): string {
    if (!isId(sessionId)) throw new AppError("bad_request", "Not a session id.");
    return join(this.#dir, ASIDE, sessionId);
  }

  #asidePath(sessionId: string, { sha256, since }: AsideFile): string {
    return join(this.#asideFolder(sessionId), `${sha256}.${since}`);
  }

  #path(sessionId: string, sha256: string): string {
    if (!SHA256.test(sha256)) throw new AppError("bad_request", "Not a SHA-256 in hex.");
    return join(this.#folder(sessionId), sha256);
  }
}

async function* idsIn(folder: string): AsyncGenerator<readonly string[]> {
  const ids = (await readdir(folder).catch(emptyWhenGone)).filter(isId).sort();
  for (let at = 0; at < ids.length; at += PAGE) yield ids.slice(at, at + PAGE);
}

/** Turns a missing file into `not_found`; other errors stay as they are. */
function absent(error: unknown): unknown {
  if (errnoOf(error) !== "ENOENT") return error;
  return new AppError("not_found", "The audio of this chunk is not in the store.", {
    cause: error,
  });
}

async function nameOnce(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
    // Renews the file's time, so that the sweep keeps it.
    if (!(await isTouched(to))) return nameOnce(from, to);
  }
  await rm(from, { force: true });
}

/** Renews the file's time; false when the file is gone. */
async function isTouched(path: string): Promise<boolean> {
  const now = new Date();
  try {
    await utimes(path, now, now);
    return true;
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
    return false;
  }
}

async function syncPath(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Turns any error of the file system into one that callers may retry. */
async function storing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw systemFault(error, true) ?? error;
  }
}
