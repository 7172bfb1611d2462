import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, readFile, realpath, rename, rm } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { z } from "zod";
import { StepError } from "../setup/step-error.mjs";
import { errorCode } from "../supervisor/error-code.ts";
import { placeOf } from "../supervisor/folder-place.ts";
import { type Encryption, makeKey, openKey, UNENCRYPTED } from "./encryption.ts";
import { diskFault } from "./faults.ts";
import { type Manifest, parseManifest } from "./manifest.ts";
import { ObjectFolder, syncFolder } from "./objects.ts";

const MARKER = "backup.json";
const KEY = "key.json";
const OBJECTS = "objects";
const BACKUPS = "backups";
const VERSION = 1;
/** What a first backup that was interrupted may have left. */
const UNFINISHED = /^(key|backup)\.json(\.[0-9a-f-]+\.tmp)?$/;
const NAME = /^(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z)\.manifest$/;
/** Some hundred thousand files of a ledger, and pieces of tables. */
const MOST_MANIFEST_BYTES = 1024 * 1024 * 1024;

const compressed = promisify<Uint8Array, Buffer>(gzip);
const expanded = promisify<Uint8Array, object, Buffer>(gunzip);
const markerShape = z.object({
  what: z.literal("backups of voice-session-service"),
  version: z.number(),
  /** Of whose audio folder: one installation has a folder of backups. */
  store: z.string(),
  sealed: z.boolean(),
});
type Marker = z.output<typeof markerShape>;

interface Opening {
  readonly passphrase: string | undefined;
  /** Makes the folder when it is not there: the id of the installation that is backed up. */
  readonly store?: string;
}

/** A folder of backups, for one program at a time. */
export class BackupFolder {
  readonly path: string;
  readonly objects: ObjectFolder;
  readonly isEncrypted: boolean;
  readonly #encryption: Encryption;
  readonly #lock: Server;

  private constructor(path: string, encryption: Encryption, lock: Server) {
    this.path = path;
    this.objects = new ObjectFolder(join(path, OBJECTS), encryption);
    this.isEncrypted = encryption.isEncrypted;
    this.#encryption = encryption;
    this.#lock = lock;
  }

  /** Throws a StepError when it is not one, is in use, or does not open with the passphrase. */
  static async open(given: string, { passphrase, store }: Opening): Promise<BackupFolder> {
    if (store !== undefined) await make(given);
    const path = await realpath(given).catch(() => {
      throw new StepError(`there is no folder ${given}`, "name the folder of the backups");
    });
    const lock = await takeLock(path);
    try {
      const encryption = await encryptionOf(path, passphrase, store);
      const folder = new BackupFolder(path, encryption, lock);
      // A restore reads also from where nothing can be written.
      if (store !== undefined) {
        await mkdir(join(path, BACKUPS), { recursive: true, mode: 0o700 });
        await folder.objects.prepare();
      }
      return folder;
    } catch (error) {
      lock.close();
      throw diskFault(error, path);
    }
  }

  /** Names of whole backups, the oldest first. */
  async list(): Promise<string[]> {
    const names = await readdir(join(this.path, BACKUPS));
    return names.flatMap((each) => NAME.exec(each)?.[1] ?? []).sort();
  }

  /** The backup of this name, or the newest. Throws a StepError. */
  async read(wanted?: string): Promise<Manifest> {
    const names = await this.list();
    const name = wanted ?? names.at(-1);
    if (name === undefined) {
      throw new StepError(`${this.path} holds no whole backup`, "make one: voice admin backup");
    }
    if (!names.includes(name)) {
      throw new StepError(`there is no backup ${name} in ${this.path}`, listAdvice(names));
    }
    return this.#readManifest(name);
  }

  /** From here on the backup counts. Everything that it names is durable before. */
  async finish(manifest: Omit<Manifest, "version" | "name">): Promise<Manifest> {
    const name = await this.#freshName(manifest.record.at);
    const whole: Manifest = { version: VERSION, name, ...manifest };
    await this.objects.flush();
    const content = await compressed(Buffer.from(JSON.stringify(whole)));
    const file = join(this.path, BACKUPS, `${name}.manifest`);
    const temporary = `${file}.${randomUUID()}.tmp`;
    try {
      const written = await open(temporary, "wx", 0o600);
      try {
        for await (const part of this.#encryption.encrypt(manifestName(name), once(content))) {
          await written.writeFile(part);
        }
        await written.sync();
      } finally {
        await written.close();
      }
      await rename(temporary, file);
      await syncFolder(join(this.path, BACKUPS));
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined);
      throw diskFault(error, this.path);
    }
    return whole;
  }

  /** After this the backup is none; what it alone named stays until it is removed. */
  async drop(name: string): Promise<void> {
    await rm(join(this.path, BACKUPS, `${name}.manifest`), { force: true });
  }

  close(): void {
    this.#lock.close();
  }

  async #readManifest(name: string): Promise<Manifest> {
    const file = join(this.path, BACKUPS, `${name}.manifest`);
    try {
      const parts: Uint8Array[] = [];
      const stored = once(await readFile(file));
      for await (const part of this.#encryption.decrypt(manifestName(name), stored))
        parts.push(part);
      const most = { maxOutputLength: MOST_MANIFEST_BYTES };
      const manifest = parseManifest((await expanded(Buffer.concat(parts), most)).toString());
      if (manifest.name !== name) throw new Error("It has the name of another one.");
      return manifest;
    } catch {
      throw new StepError(
        `the backup ${name} is cut off or changed: ${file} cannot be read`,
        "take another one (voice admin backup list), or a copy of this folder",
      );
    }
  }

  /** By the moment that it shows. */
  async #freshName(at: string): Promise<string> {
    const names = new Set(await this.list());
    for (let ms = Date.parse(at); ; ms += 1) {
      const name = new Date(ms).toISOString().replaceAll(":", "-");
      if (!names.has(name)) return name;
    }
  }
}

async function make(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw diskFault(error, path);
  }
}

/** The kernel gives it back when its holder dies. */
function takeLock(path: string): Promise<Server> {
  const { folder } = placeOf(path);
  const server = createServer((socket) => socket.destroy());
  return new Promise((settle, refuse) => {
    server.once("error", (error) => {
      if (errorCode(error) !== "EADDRINUSE") return refuse(error);
      refuse(
        new StepError(
          `another backup or restore is at work in ${path}`,
          "wait until it has ended; one at a time",
        ),
      );
    });
    server.listen({ path: `\0voice-session-service-backups:${folder}` }, () => {
      server.unref();
      settle(server);
    });
  });
}

async function encryptionOf(
  path: string,
  passphrase: string | undefined,
  store: string | undefined,
): Promise<Encryption> {
  const marker = await readMarker(path);
  if (marker === undefined) {
    const isEmpty = (await readdir(path)).every((each) => UNFINISHED.test(each));
    if (store === undefined || !isEmpty) throw notOurs(path);
    return begin(path, passphrase, store);
  }
  if (marker.version > VERSION) {
    throw new StepError(
      `the backups in ${path} were made by a newer release`,
      "use that release, or a newer one",
    );
  }
  if (store !== undefined && store !== marker.store) {
    throw new StepError(
      `${path} holds the backups of another installation`,
      "take a folder of its own for each installation",
    );
  }
  if (!marker.sealed && passphrase !== undefined) {
    throw new StepError(
      `the backups in ${path} are not encrypted`,
      "leave the passphrase out, or begin another folder with it",
    );
  }
  if (!marker.sealed) return UNENCRYPTED;
  if (passphrase === undefined) {
    throw new StepError(
      `the backups in ${path} are encrypted`,
      "give their passphrase or key: --passphrase, or --key-file FILE",
    );
  }
  return openKey(passphrase, await readFile(join(path, KEY), "utf8").catch(() => ""));
}

/** The marker comes last: a folder without it that is not empty is nobody's. */
async function begin(
  path: string,
  passphrase: string | undefined,
  store: string,
): Promise<Encryption> {
  const made = passphrase === undefined ? undefined : await makeKey(passphrase);
  const sealed = made !== undefined;
  if (made !== undefined) await writeDurably(join(path, KEY), made.file);
  const marker: Marker = {
    ...{ what: "backups of voice-session-service", version: VERSION, store, sealed },
  };
  await writeDurably(join(path, MARKER), `${JSON.stringify(marker)}\n`);
  return made?.encryption ?? UNENCRYPTED;
}

async function readMarker(path: string): Promise<Marker | undefined> {
  const text = await readFile(join(path, MARKER), "utf8").catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return undefined;
    throw diskFault(error, path);
  });
  if (text === undefined) return undefined;
  try {
    return markerShape.parse(JSON.parse(text));
  } catch {
    throw notOurs(path);
  }
}

async function writeDurably(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  const file = await open(temporary, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}

function notOurs(path: string): StepError {
  return new StepError(
    `${path} is not a folder of backups`,
    "name the one that holds them; a first backup takes a new or an empty folder",
  );
}

function listAdvice(names: readonly string[]): string {
  return names.length === 0 ? "there is none yet" : `there are: ${names.slice(-5).join(", ")}`;
}

function manifestName(name: string): string {
  return `manifest ${name}`;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
