import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { Busboy } from "@fastify/busboy";
import type { Upload } from "../api/route.ts";
import { AppError } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import type { Exchange } from "./exchange.ts";
import { bodyLate, CallerGone, isStorable, tooLarge } from "./json-body.ts";

export interface UploadLimits {
  /** Folder of the temporary files; on the same file system as the blobs, so that a rename moves them. */
  folder: string;
  bytes: number;
  timeoutMs: number;
}

type Headers = Readonly<Record<string, string>>;
type Part = Pick<Upload, "filename" | "mediaType">;

/** A file being filled: hashes what it writes. */
class TemporaryFile {
  readonly path: string;
  readonly stream: Writable;
  readonly #hash = createHash("sha256");
  #bytes = 0;
  readonly closed: Promise<void>;

  constructor(folder: string) {
    this.path = join(folder, `${newId()}.upload`);
    this.stream = createWriteStream(this.path, { flags: "wx", mode: 0o600 });
    this.closed = new Promise((resolve, reject) => {
      this.stream.once("error", (error) => reject(fileError(error)));
      this.stream.once("close", resolve);
    });
    this.closed.catch(() => {});
  }

  /** False when the writer should wait for the stream's `drain`. */
  write(chunk: Buffer): boolean {
    this.#hash.update(chunk);
    this.#bytes += chunk.byteLength;
    return this.stream.write(chunk);
  }

  async finish(part: Part, fields: Record<string, string>): Promise<Upload> {
    this.stream.end();
    await this.closed;
    const sha256 = this.#hash.digest("hex");
    return { path: this.path, bytes: this.#bytes, sha256, ...part, fields };
  }

  /** Closes and removes the file; never rejects. */
  async discard(): Promise<void> {
    this.stream.destroy();
    await this.closed.catch(() => {});
    await removeFile(this.path);
  }
}

/** Removes a temporary file if it is still there; never rejects. */
export async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true }).catch(() => {});
}

function fileError(error: NodeJS.ErrnoException): AppError {
  if (error.code === "ENOSPC" || error.code === "EDQUOT") {
    return new AppError("storage_full", "There is no room left to store the upload.", {
      cause: error,
      retryAfter: 60,
    });
  }
  return new AppError("internal", "The upload could not be stored.", { cause: error });
}

/** Where body bytes go: the file itself, or a parser in front of it. */
interface Intake {
  /** False when full; `onDrain` tells when it has room again. */
  write(chunk: Buffer): boolean;
  onDrain(listener: () => void): void;
  finish(): Promise<Upload>;
}

/**
 * Streams a body into a temporary file, which is the caller's to remove. A
 * body that is too large, late, cut off or malformed leaves no file behind.
 */
export async function readUpload(
  exchange: Exchange,
  headers: Headers,
  limits: UploadLimits,
): Promise<Upload> {
  const file = new TemporaryFile(limits.folder);
  try {
    return await receive(exchange, openIntake(file, headers), file, limits);
  } catch (error) {
    await file.discard();
    throw error;
  }
}

function openIntake(file: TemporaryFile, headers: Headers): Intake {
  const type = headers["content-type"] ?? "";
  if (type.toLowerCase().startsWith("multipart/form-data")) return multipart(file, type);
  const mediaType = type.trim().toLowerCase() || "application/octet-stream";
  return {
    write: (chunk) => file.write(chunk),
    onDrain: (listener) => file.stream.on("drain", listener),
    finish: () => file.finish({ filename: "", mediaType }, {}),
  };
}

function receive(
  exchange: Exchange,
  intake: Intake,
  file: TemporaryFile,
  limits: UploadLimits,
): Promise<Upload> {
  return new Promise((resolve, reject) => {
    let size = 0;
    let done = false;
    const settle = (act: () => void): void => {
      if (done) return;
      done = true;
      clearTimeout(timer);
      act();
    };
    const fail = (error: unknown): void => settle(() => reject(error));
    const timer = setTimeout(() => fail(bodyLate(limits.timeoutMs)), limits.timeoutMs);
    file.closed.catch(fail);
    intake.onDrain(() => exchange.resume());
    exchange.readBody({
      data(chunk) {
        if (done) return;
        size += chunk.byteLength;
        if (size > limits.bytes) return fail(tooLarge(limits.bytes));
        if (!intake.write(chunk)) exchange.pause();
      },
      end: () => settle(() => intake.finish().then(resolve, reject)),
      gone: () => fail(new CallerGone()),
    });
  });
}

function malformed(message: string): AppError {
  return new AppError("invalid_body", message);
}

function openParser(contentType: string): InstanceType<typeof Busboy> {
  try {
    return new Busboy({
      headers: { "content-type": contentType },
      limits: { fields: 32, fieldSize: 4096, fieldNameSize: 100, files: 2, parts: 40 },
      isPartAFile: (name, _type, filename) => name === "file" || filename !== undefined,
    });
  } catch {
    throw malformed("The multipart body declares no boundary in its Content-Type.");
  }
}

function multipart(file: TemporaryFile, contentType: string): Intake {
  const parser = openParser(contentType);
  const fields: Record<string, string> = Object.create(null);
  let part: Part | undefined;
  let problem: AppError | undefined;
  let ended = Promise.resolve();
  parser.on("field", (name, value, _nameCut, cut) => {
    if (cut) problem ??= malformed(`The multipart field "${name.slice(0, 100)}" is too long.`);
    fields[name] = value;
  });
  parser.on("file", (name, stream, filename, _encoding, mediaType) => {
    if (name !== "file" || part !== undefined) {
      problem ??= malformed('A multipart upload has exactly one file, in the part "file".');
      stream.resume();
      return;
    }
    part = { filename: filename ?? "", mediaType: mediaType.toLowerCase() };
    ended = new Promise((resolve) => stream.once("end", resolve));
    stream.on("error", () => {
      problem ??= malformed("The multipart body is cut off.");
    });
    stream.on("data", (chunk: Buffer) => {
      if (file.write(chunk)) return;
      stream.pause();
      file.stream.once("drain", () => stream.resume());
    });
  });
  const parsed = new Promise<void>((resolve, reject) => {
    parser.once("finish", resolve);
    parser.once("error", () => reject(malformed("The multipart body is malformed or cut off.")));
  });
  parsed.catch(() => {});
  return {
    write: (chunk) => parser.write(chunk),
    onDrain: (listener) => parser.on("drain", listener),
    async finish() {
      parser.end();
      await parsed;
      await ended;
      if (problem !== undefined) throw problem;
      if (part === undefined) throw malformed('The multipart body has no part named "file".');
      if (!isStorable([part, fields])) throw malformed("A multipart field holds U+0000.");
      return file.finish(part, fields);
    },
  };
}
