import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { dirname, join } from "node:path";
import { StepError } from "../setup/step-error.mjs";
import { errorCode } from "./error-code.ts";
import { isStillThere, type Place, placeOf, readPlace } from "./folder-place.ts";
import type { Owner } from "./leftovers.ts";
import { isRunning } from "./process-identity.ts";
import { makePassable } from "./readable-copy.ts";
import { readRunRecord } from "./run-record.ts";
import { writeAtomically } from "./write-atomically.ts";

const MARKER = ".voice-data.json";

/**
 * The folder that holds all that persists, owned by one supervisor at a time. The lock is an
 * abstract socket named after the folder's inode: the kernel frees it when its holder dies.
 */
export class DataFolder {
  readonly path: string;
  readonly id: string;
  readonly place: Place;
  readonly #lock: Server;

  private constructor(id: string, place: Place, lock: Server) {
    this.path = place.path;
    this.id = id;
    this.place = place;
    this.#lock = lock;
  }

  /** Marks of the processes that run on it. */
  get owner(): Owner {
    return { id: this.id, folder: this.place.folder };
  }

  /** Throws a StepError when another supervisor has the folder, or when it is not ours. */
  static async open(given: string): Promise<DataFolder> {
    makeFolder(given);
    const path = realpathSync(given);
    const marker = readMarker(path);
    if (!marker && readdirSync(path).length > 0) throw notOurs(path);
    const lock = await takeLock(path);
    const place = placeOf(path);
    const id = marker?.id ?? randomUUID();
    // The original's ports are left for it, whether it runs now or later.
    if (isCopy(marker?.at, place)) rmSync(join(path, "ports.json"), { force: true });
    if (!isSame(marker?.at, place)) writeMarker({ id, at: place });
    for (const name of ["logs", "blobs", "keys"]) {
      mkdirSync(join(path, name), { recursive: true, mode: 0o700 });
    }
    return new DataFolder(id, place, lock);
  }

  /**
   * The same folder at another place, with a link where it was. The lock goes along when it stays on
   * its file system; otherwise it is copied, and a new lock taken.
   */
  async moveTo(path: string): Promise<DataFolder> {
    const before = this.path;
    makePassable(dirname(path));
    try {
      renameSync(before, path);
    } catch (error) {
      if (errorCode(error) !== "EXDEV") throw cannotMove(before, path, errorCode(error));
      copyAcross(before, path);
      rmSync(before, { recursive: true });
    }
    symlinkSync(path, before);
    const place = placeOf(path);
    writeMarker({ id: this.id, at: place });
    if (place.folder === this.place.folder) return new DataFolder(this.id, place, this.#lock);
    this.release();
    return new DataFolder(this.id, place, await takeLock(path));
  }

  file(...names: string[]): string {
    return join(this.path, ...names);
  }

  /** Deletes all that the folder holds but the marker; nothing of it may be running. */
  clear(): void {
    for (const name of readdirSync(this.path)) {
      if (name !== MARKER) rmSync(join(this.path, name), { recursive: true, force: true });
    }
    for (const name of ["logs", "blobs", "keys"]) mkdirSync(this.file(name), { mode: 0o700 });
  }

  release(): void {
    this.#lock.close();
  }
}

/** With owners, times and links as they are. */
function copyAcross(from: string, to: string): void {
  const { status, stderr, error } = spawnSync("cp", ["-a", from, to], { encoding: "utf8" });
  if (status === 0) return;
  rmSync(to, { recursive: true, force: true });
  throw cannotMove(from, to, error?.message ?? stderr.trim());
}

function cannotMove(from: string, to: string, why: string): StepError {
  return new StepError(
    `nothing of the service runs as root, no other user can reach ${from}, and it cannot be moved to ${to} (${why})`,
    "choose a data folder that others can pass through to (--data /srv/voice, say), or run as an ordinary user",
  );
}

/** For us alone; below root PostgreSQL runs as another user, which has to pass through. */
function makeFolder(path: string): void {
  try {
    const isNew = !existsSync(path);
    mkdirSync(path, { recursive: true });
    if (isNew) chmodSync(path, process.getuid?.() === 0 ? 0o711 : 0o700);
  } catch (error) {
    throw new StepError(
      `the data folder ${path} cannot be made (${errorCode(error)})`,
      "choose another with --data DIR",
    );
  }
  if (!statSync(path).isDirectory()) {
    throw new StepError(`${path} is not a folder`, "choose another with --data DIR");
  }
}

interface Marker {
  readonly id: string;
  /** Where the folder was when a supervisor took it last. */
  readonly at: Place | undefined;
}

function isSame(before: Place | undefined, now: Place): boolean {
  return before?.folder === now.folder && before.path === now.path;
}

/** A copy, when the folder that the marker was written for is still there. */
function isCopy(before: Place | undefined, now: Place): boolean {
  return before !== undefined && before.folder !== now.folder && isStillThere(before);
}

function readMarker(path: string): Marker | undefined {
  try {
    const marker: unknown = JSON.parse(readFileSync(join(path, MARKER), "utf8"));
    if (typeof marker !== "object" || marker === null || !("id" in marker)) return undefined;
    if (typeof marker.id !== "string") return undefined;
    return { id: marker.id, at: readPlace("at" in marker ? marker.at : undefined) };
  } catch {
    return undefined;
  }
}

function writeMarker({ id, at }: { id: string; at: Place }): void {
  try {
    const text = { what: "data folder of voice-session-service", id, at };
    writeAtomically(join(at.path, MARKER), `${JSON.stringify(text)}\n`, 0o644);
  } catch (error) {
    throw new StepError(
      `the data folder ${at.path} cannot be written to (${errorCode(error)})`,
      "choose another with --data DIR",
    );
  }
}

function takeLock(path: string): Promise<Server> {
  const { folder } = placeOf(path);
  const server = createServer((socket) => socket.destroy());
  return new Promise((settle, refuse) => {
    server.once("error", (error) => {
      refuse(errorCode(error) === "EADDRINUSE" ? heldByAnother(path) : error);
    });
    server.listen({ path: `\0voice-session-service:${folder}` }, () => {
      server.unref();
      settle(server);
    });
  });
}

function heldByAnother(path: string): StepError {
  const holder = readRunRecord(join(path, "run.json"))?.supervisor;
  const who = holder && isRunning(holder) ? ` (pid ${holder.pid})` : "";
  return new StepError(
    `another supervisor${who} is running on the data folder ${path}`,
    holder
      ? `stop it with: kill ${holder.pid}; or choose another folder with --data DIR`
      : "choose another folder with --data DIR",
  );
}

function notOurs(path: string): StepError {
  return new StepError(
    `${path} is not empty and was not made by this service, so it is left alone`,
    "choose an empty or a new folder with --data DIR",
  );
}
