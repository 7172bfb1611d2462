/**
 * Entry point of the thread that writes audio files. Most calls are synchronous: in a thread they
 * cost a few microseconds each, much less than through the libuv thread pool. Only flushing takes
 * long and runs in parallel.
 */
import {
  closeSync,
  copyFileSync,
  fdatasync,
  fsync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  statfsSync,
  unlinkSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { parentPort, workerData } from "node:worker_threads";
import { errnoOf } from "../../../base/errors.ts";
import type { DiskState } from "./audio-watch.ts";
import type { FileOperations, FilePaths, LogPath } from "./file-writes.ts";
import { type WriterOrder, type WriterRequest, WriterService } from "./writer-service.ts";

const MAX_NAMINGS = 5;
const flush = promisify(fsync);
const flushData = promisify(fdatasync);

const OPERATIONS: FileOperations = {
  create,
  takeOver,
  extend,
  openFolder: (path) => openSync(path, "r"),
  flush: (fd) => flush(fd),
  flushData: (fd) => flushData(fd),
  close: closeSync,
  name,
  remove,
  room: roomFor,
  now: () => performance.now(),
};

const service = new WriterService(OPERATIONS, workerData as WriterOrder, (answer) =>
  parentPort?.postMessage(answer),
);
parentPort?.on("message", (request: WriterRequest) => service.serve(request));

function roomFor(path: string): DiskState["room"] {
  const { bavail, blocks, bsize } = statfsSync(dirname(path));
  // Network file systems may not tell.
  return blocks > 0 ? { free: bavail * bsize, size: blocks * bsize } : undefined;
}

function create(path: string, bytes: Uint8Array): number {
  const fd = openSync(path, "wx", 0o600);
  try {
    for (let at = 0; at < bytes.byteLength; ) at += writeSync(fd, bytes, at);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function extend({ folder, path }: LogPath, at: number, bytes: Uint8Array): number {
  const fd = at === 0 ? openNew(folder, path) : openSync(path, "r+");
  try {
    for (let done = 0; done < bytes.byteLength; ) {
      done += writeSync(fd, bytes, done, bytes.byteLength - done, at + done);
    }
    return fd;
  } catch (error) {
    closeSync(fd);
    if (at === 0) remove(path);
    throw error;
  }
}

function openNew(folder: string, path: string): number {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return openSync(path, "w", 0o600);
    } catch (error) {
      if (attempt === MAX_NAMINGS || errnoOf(error) !== "ENOENT") throw error;
      mkdirSync(folder, { recursive: true });
    }
  }
}

function takeOver(received: string, path: string): number {
  try {
    renameSync(received, path);
  } catch (error) {
    if (errnoOf(error) !== "EXDEV") throw error;
    copyFileSync(received, path);
    remove(received);
  }
  return openSync(path, "r");
}

/** Removes a temporary file. If that fails, a later start of the service removes it. */
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
function name({ temporary, folder, path }: FilePaths): void {
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
