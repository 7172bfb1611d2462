/**
 * Entry of the thread that writes audio. Most of its calls wait for the file system: each costs a
 * few microseconds so, and through the pool of threads many times that. Only what takes long, the
 * flushing, goes side by side.
 */
import {
  closeSync,
  fsync,
  linkSync,
  mkdirSync,
  openSync,
  unlinkSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { promisify } from "node:util";
import { parentPort } from "node:worker_threads";
import { errnoOf } from "../../base/errors.ts";

export interface FileWrite {
  /** Where it is written first; on the same file system. */
  temporary: string;
  folder: string;
  /** Its name in the folder, given once its bytes are safe. */
  path: string;
  length: number;
}

export interface WriteRequest {
  id: number;
  /** Holds the folders. */
  base: string;
  files: FileWrite[];
  /** The content of all files, one after the other. */
  bytes: Uint8Array;
}

interface WriteFault {
  errno: string | undefined;
  message: string;
}

export interface WriteAnswer {
  id: number;
  /** In the order of the files; undefined for each that survives a power failure now. */
  faults: (WriteFault | undefined)[];
}

const MAX_NAMINGS = 5;
const flush = promisify(fsync);

parentPort?.on("message", (request: WriteRequest) => {
  void answer(request);
});

async function answer(request: WriteRequest): Promise<void> {
  const message: WriteAnswer = { id: request.id, faults: await writeAll(request) };
  parentPort?.postMessage(message);
}

async function writeAll(request: WriteRequest): Promise<WriteAnswer["faults"]> {
  const { base, files, bytes } = request;
  let at = 0;
  const written = await Promise.allSettled(
    files.map((file) => {
      const data = bytes.subarray(at, at + file.length);
      at += file.length;
      return writeFile(file, data);
    }),
  );
  const named = files.filter((_, index) => written[index]?.status === "fulfilled");
  const folders = [...new Set(named.map(({ folder }) => folder))];
  // The base always: another upload may have made a folder and not synced its name yet.
  const places = [base, ...folders];
  const synced = await Promise.allSettled(places.map(syncFolder));
  const faults = new Map(places.map((place, index) => [place, faultOf(synced[index])]));
  return files.map(
    ({ folder }, index) => faultOf(written[index]) ?? faults.get(folder) ?? faults.get(base),
  );
}

async function writeFile(file: FileWrite, data: Uint8Array): Promise<void> {
  const fd = openSync(file.temporary, "wx", 0o600);
  try {
    try {
      for (let at = 0; at < data.byteLength; ) at += writeSync(fd, data, at);
      await flush(fd);
    } finally {
      closeSync(fd);
    }
    name(file);
  } finally {
    remove(file.temporary);
  }
}

/** What stays for once goes when the service starts again. */
function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // The write's own outcome is what counts.
  }
}

/**
 * A file that has the name already is the same upload, and parts of it may have been silenced
 * since: it stays, but becomes young again, for whoever clears away what no chunk names.
 */
function name({ temporary, folder, path }: FileWrite): void {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return linkSync(temporary, path);
    } catch (error) {
      const errno = errnoOf(error);
      if (attempt === MAX_NAMINGS || (errno !== "ENOENT" && errno !== "EEXIST")) throw error;
      if (errno === "ENOENT") mkdirSync(folder, { recursive: true });
      else if (isTouched(path)) return;
    }
  }
}

/** False when the file is gone. */
function isTouched(path: string): boolean {
  const now = new Date();
  try {
    utimesSync(path, now, now);
    return true;
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
    return false;
  }
}

async function syncFolder(folder: string): Promise<void> {
  const fd = openSync(folder, "r");
  try {
    await flush(fd);
  } finally {
    closeSync(fd);
  }
}

function faultOf(result: PromiseSettledResult<void> | undefined): WriteFault | undefined {
  if (result?.status !== "rejected") return undefined;
  return { errno: errnoOf(result.reason), message: String(result.reason) };
}
