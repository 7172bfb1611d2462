import {
  copyFile,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { type DecoderProgram, findDecoder } from "../../base/decoder/decoder-program.ts";
import { AppError, errnoOf, systemFault } from "../../base/errors.ts";
import { isId, newId } from "../../base/ids.ts";
import type { QueueFigures, QueueOwner } from "../../base/queue-metrics.ts";
import type { UploadContent } from "../../rest/route.ts";
import type { BlobStore } from "./chunk-store.ts";
import { FileConverter } from "./conversion/file-converter.ts";
import type { DiskState } from "./durable-files/audio-watch.ts";
import { BlobWriter } from "./durable-files/blob-writer.ts";
import { Sounds } from "./sounds.ts";

const LEFT_OVER_MS = 60 * 60 * 1000;
const SHA256 = /^[0-9a-f]{64}$/;
/** Folder of files that no chunk names, below it one for each session. */
const ASIDE = "set-aside";
const ASIDE_NAME = /^([0-9a-f]{64})\.(\d+)$/;

/** A file that no chunk names. */
interface AsideFile {
  readonly sha256: string;
  /** Since when it is aside, Unix milliseconds. */
  readonly since: number;
}

/**
 * Audio in a local folder: `<dir>/<session>/<sha256>`. Uploads should be received in
 * `temporaryFolder`, on the same file system, so that storing them is a rename.
 */
export class FolderBlobs implements BlobStore, QueueOwner {
  /** The sound of these files. */
  readonly sounds = new Sounds();
  /** Decodes uploads of formats that we do not read ourselves. */
  readonly converter: FileConverter;
  readonly #dir: string;
  readonly #writer: BlobWriter;

  /** `decoder`: the program for such uploads; by default what is installed. */
  constructor(dir: string, decoder: DecoderProgram | undefined = findDecoder("auto")) {
    this.#dir = dir;
    this.converter = new FileConverter({ folder: this.temporaryFolder, program: decoder });
    this.#writer = new BlobWriter({ base: dir, temporaryFolder: this.temporaryFolder });
  }

  get queues(): readonly QueueFigures[] {
    return [this.#writer.figures("audio_files"), ...this.converter.queues, ...this.sounds.queues];
  }

  /** The folder for files that are being received; created by `start`. */
  get temporaryFolder(): string {
    return join(this.#dir, "tmp");
  }

  /** Whole files that are being received: they go with the audio of their session. */
  get uploadsFolder(): string {
    return join(this.#dir, "uploads");
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

  /** Stops the threads; further writes are rejected. */
  async stop(): Promise<void> {
    await Promise.all([this.#writer.stop(), this.sounds.stop()]);
  }

  /** Tries whether a file can be written. Takes as long as the disk does. */
  probe(): Promise<DiskState> {
    return this.#writer.probe();
  }

  /** Where a file is, or would be. */
  pathOf(sessionId: string, sha256: string): string {
    return this.#path(sessionId, sha256);
  }

  /** A whole file as WAV; undefined when it has no sound that can be read. */
  wave(sessionId: string, sha256: string, lead?: Uint8Array): Promise<Uint8Array | undefined> {
    const path = this.#path(sessionId, sha256);
    // Asked by redactions alone, which are carried out one after the other.
    return this.sounds.wave("redactions", lead === undefined ? { path } : { path, lead });
  }

  async put(sessionId: string, sha256: string, temporaryPath: string): Promise<{ path: string }> {
    const path = this.#path(sessionId, sha256);
    await this.#write(sessionId, sha256, temporaryPath);
    // It is still there when the same file was being written already.
    await rm(temporaryPath, { force: true });
    return { path };
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

  /** Throws `unavailable` without the folder itself: its disk is not there, and no file is gone. */
  async assertThere(): Promise<void> {
    await stat(this.temporaryFolder).catch((cause: unknown) => {
      throw new AppError("unavailable", "The folder of the audio cannot be read just now.", {
        cause,
        retryAfter: 10,
      });
    });
  }

  /** Replaces an existing file atomically and durably; rejects when it is gone. */
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

  /** Puts a file in the place of whatever has its name, atomically and durably. */
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

  /** Removes all audio of a session, also what is aside or still comes; returns the number of files. */
  async delete(sessionId: string): Promise<number> {
    const folders = [
      this.#folder(sessionId),
      this.#asideFolder(sessionId),
      join(this.uploadsFolder, sessionId),
    ];
    return storing(async () => {
      let files = 0;
      for (const folder of folders) {
        files += (await readdir(folder).catch(emptyWhenGone)).length;
        await rm(folder, { recursive: true, force: true });
      }
      await syncPath(this.#dir);
      return files;
    });
  }

  /** Names of all session folders, whether or not there is such a session. */
  async sessions(): Promise<string[]> {
    return (await readdir(this.#dir)).filter(isId);
  }

  /**
   * Hashes of a session's files that were stored, or stored again, before `instant` (Unix
   * milliseconds).
   */
  async olderThan(sessionId: string, instant: number): Promise<string[]> {
    const names = await readdir(this.#folder(sessionId)).catch(emptyWhenGone);
    const old: string[] = [];
    for (const name of names.filter((each) => SHA256.test(each))) {
      const found = await stat(this.#path(sessionId, name)).catch(() => undefined);
      if (found !== undefined && found.mtimeMs < instant) old.push(name);
    }
    return old;
  }

  /**
   * Sets a file aside if it is still older than `before` (Unix milliseconds); false when it is
   * younger or gone. It is moved before its age is checked, so that an upload that stores it again
   * meanwhile loses nothing. `now` is noted as the time since when it is aside.
   */
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

  /** Sessions of which something is set aside. */
  async sessionsAside(): Promise<string[]> {
    return (await readdir(join(this.#dir, ASIDE)).catch(emptyWhenGone)).filter(isId);
  }

  async filesAside(sessionId: string): Promise<AsideFile[]> {
    const names = await readdir(this.#asideFolder(sessionId)).catch(emptyWhenGone);
    return names.flatMap((name) => {
      const [, sha256, since] = ASIDE_NAME.exec(name) ?? [];
      return sha256 === undefined ? [] : [{ sha256, since: Number(since) }];
    });
  }

  /** Back to its place, unless the file is there again. */
  async putBack(sessionId: string, file: AsideFile): Promise<void> {
    await mkdir(this.#folder(sessionId), { recursive: true });
    await nameOnce(this.#asidePath(sessionId, file), this.#path(sessionId, file.sha256));
    await syncPath(this.#folder(sessionId));
  }

  async removeAside(sessionId: string, file: AsideFile): Promise<void> {
    await rm(this.#asidePath(sessionId, file), { force: true });
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

/** Turns a missing file into `not_found`; other errors stay as they are. */
function absent(error: unknown): unknown {
  if (errnoOf(error) !== "ENOENT") return error;
  return new AppError("not_found", "The audio of this chunk is not in the store.", {
    cause: error,
  });
}

function emptyWhenGone(error: unknown): string[] {
  if (errnoOf(error) !== "ENOENT") throw error;
  return [];
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
