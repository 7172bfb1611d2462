import { createHash, type Hash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { createDeferred } from "../../base/deferred.ts";
import { AppError, systemFault, toAppError } from "../../base/errors.ts";
import type { ByteSink } from "../../rest/route.ts";
import type { Checksum } from "./tus.ts";

/** Most bytes that wait for the disk before the sender has to. */
const WAITING_BYTES = 1024 * 1024;
/** Bytes after which the progress is made durable, so that little is sent again after a crash. */
const DURABLE_BYTES = 16 * 1024 * 1024;

interface IncomingOptions {
  path: string;
  /** Where in the file the first byte goes. */
  offset: number;
  /** Of all bytes that come; what does not agree with it is not kept. */
  checksum: Checksum | undefined;
  /** Called when bytes up to this offset are durable; throws when they are not to be brought here. */
  onDurable(offset: number): Promise<void>;
}

/** Where the bytes of one request go: into a file, from an offset on, in order. */
export class IncomingFile implements ByteSink {
  readonly #options: IncomingOptions;
  readonly #file: FileHandle;
  readonly #hash: Hash | undefined;
  readonly #failed = createDeferred<never>();
  #queue: Buffer[] = [];
  #waiting = 0;
  #position: number;
  #durable: number;
  #writing: Promise<void> | undefined;
  /** Called when there is room again. */
  onDrain: () => void = () => {};

  private constructor(file: FileHandle, options: IncomingOptions) {
    this.#options = options;
    this.#file = file;
    this.#position = options.offset;
    this.#durable = options.offset;
    this.#hash = options.checksum && createHash(options.checksum.algorithm);
    this.#failed.promise.catch(() => {});
  }

  /** Throws `not_found` when the file is gone. */
  static async open(options: IncomingOptions): Promise<IncomingFile> {
    const file = await open(options.path, "r+").catch((error: unknown) => {
      throw systemFault(error, true) ?? new AppError("not_found", "The upload's file is gone.");
    });
    return new IncomingFile(file, options);
  }

  /** Rejects when the bytes cannot be stored. */
  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  /** Ends the body with this error. */
  fail(error: AppError): void {
    this.#failed.reject(error);
  }

  /** False when the sender should wait for `onDrain`. */
  write(chunk: Buffer): boolean {
    this.#hash?.update(chunk);
    this.#queue.push(chunk);
    this.#waiting += chunk.byteLength;
    this.#start();
    return this.#waiting < WAITING_BYTES;
  }

  #start(): void {
    this.#writing ??= this.#drain()
      .catch((error: unknown) => this.#failed.reject(systemFault(error, true) ?? toAppError(error)))
      .finally(() => {
        this.#writing = undefined;
      });
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      const parts = this.#queue.splice(0);
      const bytes = parts.reduce((sum, part) => sum + part.byteLength, 0);
      await writeAll(this.#file, parts, this.#position);
      this.#position += bytes;
      this.#waiting -= bytes;
      if (this.#waiting < WAITING_BYTES) this.onDrain();
      const isMuch = this.#position - this.#durable >= DURABLE_BYTES;
      if (isMuch && this.#hash === undefined) await this.#makeDurable();
    }
  }

  async #makeDurable(): Promise<void> {
    if (this.#position === this.#durable) return;
    const position = this.#position;
    await this.#file.datasync();
    await this.#options.onDurable(position);
    this.#durable = position;
  }

  /**
   * Makes what came durable, also of a body that broke off. Returns the offset after it. Throws
   * `checksum_mismatch` when a whole body does not agree with its checksum, and then keeps nothing
   * of it; of a broken one with a checksum nothing is kept either.
   *
   * @param isWhole the body came to its end
   */
  async finish(isWhole: boolean): Promise<number> {
    await Promise.race([this.#writing ?? Promise.resolve(), this.#failed.promise]);
    const { checksum } = this.#options;
    if (checksum !== undefined) {
      if (!isWhole) return this.#durable;
      if (this.#hash?.digest().equals(checksum.digest) !== true) throw mismatch();
    }
    await this.#makeDurable();
    return this.#durable;
  }

  async close(): Promise<void> {
    this.#queue = [];
    await this.#writing;
    await this.#file.close();
  }
}

async function writeAll(file: FileHandle, parts: readonly Buffer[], at: number): Promise<void> {
  const bytes = parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
  for (let done = 0; done < bytes.byteLength; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.byteLength - done, at + done);
    done += bytesWritten;
  }
}

function mismatch(): AppError {
  const message = "The bytes are not those of `Upload-Checksum`: send them again.";
  return new AppError("checksum_mismatch", message);
}
