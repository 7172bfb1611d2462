import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorCode } from "../supervisor/error-code.ts";
import { DamagedCiphertext, type Encryption } from "./encryption.ts";
import { diskFault } from "./faults.ts";

/** Content that is kept once, whatever names it. */
export interface StoredObject {
  /** Of the content, hex. */
  readonly sha256: string;
  readonly bytes: number;
}

/** What was written by the present run. */
interface Written {
  objects: number;
  bytes: number;
}

/** What a file held was none of what it may hold. */
export class UnexpectedContent extends Error {
  readonly sha256: string;

  constructor(sha256: string) {
    super("The file holds something else than it should.");
    this.sha256 = sha256;
  }
}

/** An object that is gone, cut or changed. */
export class DamagedObject extends Error {}

const TEMPORARY = "tmp";
/** What is encrypted here: no manifest opens as an object. */
const WHAT = "object";

/**
 * The content of all backups of a folder, by its SHA-256: what is there already is not written again.
 * An object is written beside, flushed and renamed, so that none is half there.
 */
export class ObjectFolder {
  readonly #folder: string;
  readonly #encryption: Encryption;
  readonly #touched = new Set<string>();
  readonly written: Written = { objects: 0, bytes: 0 };

  constructor(folder: string, encryption: Encryption) {
    this.#folder = folder;
    this.#encryption = encryption;
  }

  /** Makes the folder, and removes what an interrupted run left half written. */
  async prepare(): Promise<void> {
    const temporary = join(this.#folder, TEMPORARY);
    try {
      await rm(temporary, { recursive: true, force: true });
      await mkdir(temporary, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw diskFault(error, this.#folder);
    }
  }

  async putBytes(content: Uint8Array): Promise<StoredObject> {
    const sha256 = createHash("sha256").update(content).digest("hex");
    const object = { sha256, bytes: content.byteLength };
    if (await this.has(sha256)) return object;
    return this.#write(once(content));
  }

  /**
   * Copies a file. Throws the system's error of the file, and `UnexpectedContent` when it holds none
   * of `expected` (SHA-256, hex; undefined where that is not known).
   */
  async putFile(path: string, expected?: readonly string[]): Promise<StoredObject> {
    return this.#write(bytesOf(path), expected);
  }

  /**
   * The content, in pieces. Throws `DamagedObject` at its end at the latest, when it is not what was
   * put.
   */
  async *read(sha256: string): AsyncGenerator<Uint8Array> {
    const name = this.#encryption.nameOf(sha256);
    const hash = createHash("sha256");
    try {
      for await (const piece of this.#encryption.decrypt(WHAT, bytesOf(this.#path(name)))) {
        hash.update(piece);
        yield piece;
      }
    } catch (error) {
      if (error instanceof DamagedCiphertext) throw new DamagedObject(error.message);
      if (errorCode(error) === "ENOENT") throw new DamagedObject("It is gone.");
      throw error;
    }
    if (hash.digest("hex") !== sha256) throw new DamagedObject("It was cut off or changed.");
  }

  /** Puts a damaged object out of the way, so that the next backup copies its content again. */
  async discard(sha256: string): Promise<void> {
    const path = this.#path(this.#encryption.nameOf(sha256));
    await rename(path, `${path}.damaged`).catch((error: unknown) => {
      if (errorCode(error) !== "ENOENT") throw diskFault(error, this.#folder);
    });
  }

  /** Durable on return, with their names. */
  async flush(): Promise<void> {
    for (const folder of this.#touched) await syncFolder(folder);
    this.#touched.clear();
    await syncFolder(this.#folder);
  }

  /** Removes what is none of these (SHA-256, hex); returns how much that was. */
  async keepOnly(wanted: ReadonlySet<string>, signal: AbortSignal): Promise<Written> {
    const names = new Set([...wanted].map((each) => this.#encryption.nameOf(each)));
    const removed = { objects: 0, bytes: 0 };
    for (const prefix of await readdir(this.#folder)) {
      if (prefix === TEMPORARY) continue;
      for (const name of await readdir(join(this.#folder, prefix))) {
        signal.throwIfAborted();
        if (names.has(name)) continue;
        const path = join(this.#folder, prefix, name);
        const { size } = await stat(path);
        await rm(path, { force: true });
        removed.objects += 1;
        removed.bytes += size;
      }
    }
    return removed;
  }

  async #write(
    content: AsyncIterable<Uint8Array>,
    expected?: readonly string[],
  ): Promise<StoredObject> {
    const temporary = join(this.#folder, TEMPORARY, randomUUID());
    try {
      const object = await this.#writeTo(temporary, content);
      if (expected !== undefined && !expected.includes(object.sha256)) {
        throw new UnexpectedContent(object.sha256);
      }
      await this.#settle(temporary, object);
      return object;
    } finally {
      await rm(temporary, { force: true }).catch(() => undefined);
    }
  }

  /** Only the writing fails with what the disk of the backup says. */
  async #writeTo(path: string, content: AsyncIterable<Uint8Array>): Promise<StoredObject> {
    const hash = createHash("sha256");
    let bytes = 0;
    async function* counted() {
      for await (const piece of content) {
        hash.update(piece);
        bytes += piece.byteLength;
        yield piece;
      }
    }
    const onDisk = async <T>(work: Promise<T>): Promise<T> =>
      work.catch((error: unknown) => {
        throw diskFault(error, this.#folder);
      });
    const file = await onDisk(open(path, "wx", 0o600));
    try {
      for await (const piece of this.#encryption.encrypt(WHAT, counted())) {
        await onDisk(file.writeFile(piece));
      }
      await onDisk(file.sync());
    } finally {
      await file.close();
    }
    return { sha256: hash.digest("hex"), bytes };
  }

  async #settle(temporary: string, { sha256 }: StoredObject): Promise<void> {
    const path = this.#path(this.#encryption.nameOf(sha256));
    try {
      // Another file held the same.
      if (await this.has(sha256)) return;
      const { size } = await stat(temporary);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await rename(temporary, path);
      this.#touched.add(dirname(path));
      this.written.objects += 1;
      this.written.bytes += size;
    } catch (error) {
      throw diskFault(error, this.#folder);
    }
  }

  async has(sha256: string): Promise<boolean> {
    try {
      await stat(this.#path(this.#encryption.nameOf(sha256)));
      return true;
    } catch (error) {
      if (errorCode(error) === "ENOENT") return false;
      throw diskFault(error, this.#folder);
    }
  }

  #path(name: string): string {
    return join(this.#folder, name.slice(0, 2), name);
  }
}

export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Opened when the first are asked for: the error of a stream that nobody reads yet ends the process. */
async function* bytesOf(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
