import { randomUUID } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { StepError } from "../setup/step-error.mjs";
import { errorCode } from "./error-code.ts";
import { isRunning } from "./process-identity.ts";
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
  readonly #lock: Server;

  private constructor(path: string, id: string, lock: Server) {
    this.path = path;
    this.id = id;
    this.#lock = lock;
  }

  /** Throws a StepError when another supervisor has the folder, or when it is not ours. */
  static async open(path: string): Promise<DataFolder> {
    makeFolder(path);
    const marker = readMarker(path);
    if (!marker && readdirSync(path).length > 0) throw notOurs(path);
    const lock = await takeLock(path);
    const id = marker ?? randomUUID();
    if (!marker) writeMarker(path, id);
    for (const name of ["logs", "blobs", "keys"]) {
      mkdirSync(join(path, name), { recursive: true, mode: 0o700 });
    }
    return new DataFolder(path, id, lock);
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

function readMarker(path: string): string | undefined {
  try {
    const marker: unknown = JSON.parse(readFileSync(join(path, MARKER), "utf8"));
    if (typeof marker !== "object" || marker === null || !("id" in marker)) return undefined;
    return typeof marker.id === "string" ? marker.id : undefined;
  } catch {
    return undefined;
  }
}

function writeMarker(path: string, id: string): void {
  try {
    const text = { what: "data folder of voice-session-service", id };
    writeAtomically(join(path, MARKER), `${JSON.stringify(text)}\n`, 0o644);
  } catch (error) {
    throw new StepError(
      `the data folder ${path} cannot be written to (${errorCode(error)})`,
      "choose another with --data DIR",
    );
  }
}

function takeLock(path: string): Promise<Server> {
  const { dev, ino } = statSync(path);
  const server = createServer((socket) => socket.destroy());
  return new Promise((settle, refuse) => {
    server.once("error", (error) => {
      refuse(errorCode(error) === "EADDRINUSE" ? heldByAnother(path) : error);
    });
    server.listen({ path: `\0voice-session-service:${dev}:${ino}` }, () => {
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
