/**
 * Entry point of the thread that writes audio files. Most calls are synchronous: in a thread they
 * cost a few microseconds each, much less than through the libuv thread pool. Only flushing takes
 * long and runs in parallel.
 */
import {
  closeSync,
  fsync,
  linkSync,
  mkdirSync,
  openSync,
  statfsSync,
  unlinkSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { parentPort } from "node:worker_threads";
import { errnoOf } from "../../../base/errors.ts";
import type { DiskState } from "./audio-watch.ts";

export interface FileWrite {
  /** Where the file is written first, on the same file system. */
  temporary: string;
  folder: string;
  /** The final path, given once the bytes are durable. */
  path: string;
  length: number;
}

export interface WriteRequest {
  id: number;
  /** The folder that holds the sessions' folders. */
  base: string;
  files: FileWrite[];
  /** The contents of all files, concatenated. */
  bytes: Uint8Array;
}

/** Asks whether a file can be written. */
export interface ProbeRequest {
  id: number;
  /** Where it is tried; removed again. */
  probe: string;
}

export interface ProbeAnswer {
  id: number;
  state: DiskState;
}

interface WriteFault {
  errno: string | undefined;
  message: string;
}

export interface WriteAnswer {
  id: number;
  /** Errors in the order of the files; undefined for each file that is durable. */
  faults: (WriteFault | undefined)[];
}

const MAX_NAMINGS = 5;
const PROBE_BYTES = 4_096;
const flush = promisify(fsync);

parentPort?.on("message", (request: WriteRequest | ProbeRequest) => {
  void answer(request).then((message) => parentPort?.postMessage(message));
});

async function answer(request: WriteRequest | ProbeRequest): Promise<WriteAnswer | ProbeAnswer> {
  const { id } = request;
  if ("probe" in request) return { id, state: await tryDisk(request.probe) };
  return { id, faults: await writeAll(request) };
}

async function tryDisk(path: string): Promise<DiskState> {
  const state: DiskState = {};
  try {
    const { bavail, blocks, bsize } = statfsSync(dirname(path));
    // Network file systems may not tell.
    if (blocks > 0) state.room = { free: bavail * bsize, size: blocks * bsize };
    await writeAndFlush(path, Buffer.alloc(PROBE_BYTES));
  } catch (error) {
    state.fault = errnoOf(error) ?? String(error);
  } finally {
    remove(path);
  }
  return state;
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
  // The base folder is always synced: another upload may have made a folder and not synced its name
  // yet.
  const places = [base, ...folders];
  const synced = await Promise.allSettled(places.map(syncFolder));
  const faults = new Map(places.map((place, index) => [place, faultOf(synced[index])]));
  return files.map(
    ({ folder }, index) => faultOf(written[index]) ?? faults.get(folder) ?? faults.get(base),
  );
}

async function writeAndFlush(path: string, data: Uint8Array): Promise<void> {
  const fd = openSync(path, "wx", 0o600);
  try {
    for (let at = 0; at < data.byteLength; ) at += writeSync(fd, data, at);
    await flush(fd);
  } finally {
    closeSync(fd);
  }
}

async function writeFile(file: FileWrite, data: Uint8Array): Promise<void> {
  try {
    await writeAndFlush(file.temporary, data);
    name(file);
  } finally {
    remove(file.temporary);
  }
}

/** Removes a temporary file. If that fails, the next start of the service removes it. */
function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // The outcome of the write counts, not that of the removal.
  }
}

/**
 * Gives the file its final name. A file that already has this name is the same upload, and parts of
 * it may have been silenced since: it stays, but its time is renewed so that the sweep keeps it.
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

/** Renews the file's time; false when the file is gone. */
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
