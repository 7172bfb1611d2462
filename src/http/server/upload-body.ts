import { createHash, hash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { Busboy } from "@fastify/busboy";
import { createDeferred } from "../../base/deferred.ts";
import { AppError, systemFault, toAppError } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import type { ByteSink, Upload } from "../../rest/route.ts";
import { isStorable } from "../../rest/storable-text.ts";
import { BodyClock, type BodyPace } from "./body-clock.ts";
import type { Exchange } from "./exchange.ts";
import type { Headers } from "./request.ts";
import { CallerGone, tooLarge } from "./request-body.ts";

interface UploadLimits {
  /**
   * Folder of temporary files; on the same file system as the stored audio, so that storing is a
   * rename.
   */
  folder: string;
  bytes: number;
  /** Longest time for the whole body, milliseconds. */
  totalMs: number;
  pace: BodyPace;
  /** Called whenever bytes have come. */
  onBytes?(): void;
  /** See `Route.refusesUpload`. */
  refuses?(head: Uint8Array, mediaType: string): AppError | undefined;
  /** Fields of a form that mean something to the route; of others only their beginning is kept. */
  fields: ReadonlySet<string>;
}
type Part = Pick<Upload, "filename" | "mediaType">;

/** An upload up to this size stays in memory; the number of concurrent uploads is limited. */
export const MEMORY_BYTES = 256 * 1024;

/** Bytes of a file after which it is checked what it is. */
const HEAD_BYTES = 64;

/** The received bytes: in memory while they are few, then in a temporary file. */
class Received {
  readonly #limits: Pick<UploadLimits, "folder" | "refuses">;
  readonly #onDrain: () => void;
  readonly #onFailed: (error: AppError) => void;
  #options: Buffer[] = [];
  #bytes = 0;
  #file: TemporaryFile | undefined;

  constructor(
    limits: Pick<UploadLimits, "folder" | "refuses">,
    onDrain: () => void,
    onFailed: (error: AppError) => void,
  ) {
    this.#limits = limits;
    this.#onDrain = onDrain;
    this.#onFailed = onFailed;
  }

  /** False when the writer should wait for the drain. */
  write(chunk: Buffer, mediaType: string): boolean {
    const before = this.#bytes;
    this.#bytes += chunk.byteLength;
    if (this.#file !== undefined) return this.#file.write(chunk);
    this.#options.push(chunk);
    if (before < HEAD_BYTES && this.#bytes >= HEAD_BYTES) this.#check(mediaType);
    if (this.#bytes <= MEMORY_BYTES) return true;
    const file = new TemporaryFile(this.#limits.folder);
    this.#file = file;
    file.stream.on("drain", this.#onDrain);
    file.closed.catch(this.#onFailed);
    return (
      this.#options
        .splice(0)
        .map((part) => file.write(part))
        .at(-1) ?? true
    );
  }

  #check(mediaType: string): void {
    const head = Buffer.concat(this.#options).subarray(0, HEAD_BYTES);
    const refusal = this.#limits.refuses?.(head, mediaType);
    if (refusal !== undefined) this.#onFailed(refusal);
  }

  async finish(part: Part, fields: Record<string, string>): Promise<Upload> {
    const bytes = this.#bytes;
    if (this.#file !== undefined) {
      const { path } = this.#file;
      const sha256 = await this.#file.finish();
      return { content: { kind: "file", path }, bytes, sha256, ...part, fields };
    }
    const [first, ...more] = this.#options;
    const data = first !== undefined && more.length === 0 ? first : Buffer.concat(this.#options);
    const sha256 = hash("sha256", data, "hex");
    return { content: { kind: "memory", data }, bytes, sha256, ...part, fields };
  }

  /** Removes all data; never rejects. */
  async discard(): Promise<void> {
    this.#options = [];
    await this.#file?.discard();
  }
}

/** A temporary file that hashes what is written to it. */
class TemporaryFile {
  readonly path: string;
  readonly stream: Writable;
  readonly #hash = createHash("sha256");
  readonly closed: Promise<void>;

  constructor(folder: string) {
    this.path = join(folder, `${newId()}.upload`);
    this.stream = createWriteStream(this.path, { flags: "wx", mode: 0o600 });
    this.closed = new Promise((resolve, reject) => {
      this.stream.once("error", (error) => reject(systemFault(error, true) ?? toAppError(error)));
      this.stream.once("close", resolve);
    });
    this.closed.catch(() => {});
  }

  /** False when the writer should wait for the stream's `drain`. */
  write(chunk: Buffer): boolean {
    this.#hash.update(chunk);
    return this.stream.write(chunk);
  }

  /** Finishes the file and returns its SHA-256 in hex. */
  async finish(): Promise<string> {
    this.stream.end();
    await this.closed;
    return this.#hash.digest("hex");
  }

  /** Closes and removes the file; never rejects. */
  async discard(): Promise<void> {
    this.stream.destroy();
    await this.closed.catch(() => {});
    await removeFile(this.path);
  }
}

/** Removes a temporary file if it exists; never rejects. */
export async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true }).catch(() => {});
}

/** Removes the file after the work has ended, whatever its outcome. */
export async function removeAfter(work: Promise<unknown>, path: string): Promise<void> {
  await work.catch(() => {});
  await removeFile(path);
}

/** A destination of body bytes: the received data itself, or a parser in front of it. */
interface Intake {
  /** False when full; `drained` is called when it has room again. */
  write(chunk: Buffer): boolean;
  /** Called when there is room again. */
  drained(): void;
  finish(): Promise<Upload>;
}

/**
 * Receives a body, in a temporary file when it is large; the caller must remove the file. A body
 * that is too large, late, cut off or malformed leaves no file behind.
 */
export async function readUpload(
  exchange: Exchange,
  headers: Headers,
  limits: UploadLimits,
): Promise<Upload> {
  const failed = createDeferred<never>();
  failed.promise.catch(() => {});
  const sink: ByteSink = {
    write: (chunk) => intake.write(chunk),
    onDrain: () => {},
    failed: failed.promise,
  };
  const received: Received = new Received(
    limits,
    () => intake.drained(),
    (error) => failed.reject(error),
  );
  const intake = openIntake(received, headers, limits.fields, () => sink.onDrain());
  try {
    return await readByteBody(exchange, sink, limits, () => intake.finish());
  } catch (error) {
    await received.discard();
    throw error;
  }
}

function openIntake(
  received: Received,
  headers: Headers,
  known: ReadonlySet<string>,
  resume: () => void,
): Intake {
  const type = headers["content-type"] ?? "";
  if (type.toLowerCase().startsWith("multipart/form-data")) {
    return multipart(received, openParser(type), known, resume);
  }
  const mediaType = type.trim().toLowerCase() || "application/octet-stream";
  return {
    write: (chunk) => received.write(chunk, mediaType),
    drained: resume,
    finish: () => received.finish({ filename: "", mediaType }, {}),
  };
}

/**
 * The parser does not come back from some malformed bodies, such as one with a large part that has
 * no name. This long after the whole body was given to it, without a byte from it, it never will,
 * milliseconds.
 */
const STUCK_MS = 2_000;

/** Rejects when `parsed` is still open and nothing moved for `STUCK_MS`. */
async function unlessStuck(parsed: Promise<void>, hasMoved: () => boolean): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const stuck = new Promise<never>((_resolve, reject) => {
    timer = setInterval(() => {
      if (!hasMoved()) reject(malformed("The multipart body is malformed."));
    }, STUCK_MS);
  });
  await Promise.race([parsed, stuck]).finally(() => clearInterval(timer));
}

function malformed(message: string): AppError {
  return new AppError("invalid_body", message);
}

/** Parts of a form besides its file. */
const MOST_FIELDS = 100;
/** Bytes of a field that are kept; as many as any that has an effect may have. */
const FIELD_BYTES = 4096;

function tooLong(name: string): string {
  return `The multipart field "${name}" is longer than ${FIELD_BYTES} bytes.`;
}

function openParser(contentType: string): InstanceType<typeof Busboy> {
  try {
    return new Busboy({
      headers: { "content-type": contentType },
      limits: { fields: MOST_FIELDS, fieldSize: FIELD_BYTES, files: 2, parts: MOST_FIELDS + 3 },
      isPartAFile: (name, _type, filename) => name === "file" || filename !== undefined,
    });
  } catch {
    throw malformed("The multipart body declares no boundary in its Content-Type.");
  }
}

function multipart(
  received: Received,
  parser: InstanceType<typeof Busboy>,
  known: ReadonlySet<string>,
  resume: () => void,
): Intake {
  parser.on("drain", resume);
  let paused: Readable | undefined;
  let moved = false;
  const fields: Record<string, string> = Object.create(null);
  let part: Part | undefined;
  let problem: AppError | undefined;
  let ended = Promise.resolve();
  parser.on("field", (name, value, _nameCut, cut) => {
    if (cut && known.has(name)) problem ??= malformed(tooLong(name));
    // The values of a list come one by one, under one name.
    const before = name.endsWith("[]") ? fields[name] : undefined;
    fields[name] = before === undefined ? value : `${before},${value}`;
  });
  const tooMany = (): void => {
    problem ??= malformed(`A multipart upload has at most ${MOST_FIELDS} fields and one file.`);
  };
  parser.on("fieldsLimit", tooMany);
  parser.on("partsLimit", tooMany);
  parser.on("file", (name, stream, filename, _encoding, mediaType) => {
    // On every file: one without a listener would end the process.
    stream.on("error", () => {
      problem ??= malformed("The multipart body is cut off.");
    });
    if (name !== "file" || part !== undefined) {
      problem ??= malformed('A multipart upload has exactly one file, in the part "file".');
      stream.resume();
      return;
    }
    const type = mediaType.toLowerCase();
    part = { filename: filename ?? "", mediaType: type };
    ended = new Promise((resolve) => stream.once("end", resolve));
    stream.on("data", (chunk: Buffer) => {
      moved = true;
      if (received.write(chunk, type)) return;
      paused = stream;
      stream.pause();
    });
  });
  const parsed = new Promise<void>((resolve, reject) => {
    parser.once("finish", resolve);
    parser.once("error", () => reject(malformed("The multipart body is malformed or cut off.")));
  });
  parsed.catch(() => {});
  /** Whether it gave bytes since the last call, or waits for the disk. */
  const hasMoved = (): boolean => {
    const answer = moved || paused?.isPaused() === true;
    moved = false;
    return answer;
  };
  return {
    write: (chunk) => parser.write(chunk),
    drained: () => paused?.resume(),
    async finish() {
      parser.end();
      await unlessStuck(
        parsed.then(() => ended),
        hasMoved,
      );
      if (problem !== undefined) throw problem;
      if (part === undefined) throw malformed('The multipart body has no part named "file".');
      if (!isStorable([part, fields])) throw malformed("A multipart field holds U+0000.");
      return received.finish(part, fields);
    },
  };
}

interface ByteBodyLimits {
  /** Most bytes that are taken. */
  bytes: number;
  /** Longest time for the whole body, milliseconds. */
  totalMs: number;
  pace: BodyPace;
  /** Called whenever bytes have come. */
  onBytes?(): void;
  /** Rejects when the caller's right has ended. */
  ended?: Promise<never>;
}

/**
 * Gives a body to a sink as it comes, however long it is, and resolves with what `finish` makes of it
 * at its end. Rejects when it comes too slowly, is too large, breaks off, or cannot be stored.
 */
export function readByteBody<T>(
  exchange: Exchange,
  sink: ByteSink,
  limits: ByteBodyLimits,
  finish: () => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let size = 0;
    let isDone = false;
    const settle = (act: () => void): void => {
      if (isDone) return;
      isDone = true;
      clock.stop();
      act();
    };
    const fail = (error: unknown): void => settle(() => reject(error));
    const clock = new BodyClock(limits.pace, limits.totalMs, fail);
    sink.failed.catch(fail);
    limits.ended?.catch(fail);
    sink.onDrain = () => {
      if (isDone) return;
      clock.go();
      exchange.resume();
    };
    exchange.readBody({
      data(chunk) {
        if (isDone) return;
        size += chunk.byteLength;
        clock.came(chunk.byteLength);
        limits.onBytes?.();
        if (size > limits.bytes) return fail(tooLarge(limits.bytes));
        if (sink.write(chunk)) return;
        clock.hold();
        exchange.pause();
      },
      // The clock runs on: nobody else would end a body whose sink never finishes.
      end() {
        clock.whole();
        finish().then((result) => settle(() => resolve(result)), fail);
      },
      gone: () => fail(new CallerGone()),
    });
  });
}
