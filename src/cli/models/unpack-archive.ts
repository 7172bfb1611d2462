import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Readable, Transform, type TransformCallback } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Entry, extract } from "tar-stream";
import unbzip2 from "unbzip2-stream";
import { reasonOf } from "../../client/errors.ts";
import { CommandFailure } from "../client/command-context.ts";
import type { Model, ModelArchive, ModelFile } from "./manifest.ts";
import { partOf } from "./model-folder.ts";

/** What an archive may hold beside the files of the manifest, bytes: examples, papers. */
const MOST_BESIDE = 32 * 1024 * 1024;

interface UnpackOptions {
  /** The archive on disk, whose checksum is right. */
  path: string;
  /** Of the model: each file goes to its own path below it. */
  target: string;
  signal: AbortSignal;
  /** Told how many bytes of the archive are read. */
  onProgress(bytes: number): void;
}

/**
 * Unpacks the files that the manifest names, each with the size and checksum that it tells, and
 * nothing else: other entries are passed over without being written. Throws CommandFailure for an
 * archive that holds one of them twice, as a link, of another size or content, that lacks one, or
 * that holds more than the manifest explains.
 */
export async function unpackArchive(
  model: Model,
  archive: ModelArchive,
  { path, target, signal, onProgress }: UnpackOptions,
): Promise<void> {
  let read = 0;
  const counter = transform((chunk) => {
    read += chunk.length;
    onProgress(read);
  });
  const most = model.files.reduce((sum, { bytes }) => sum + bytes, MOST_BESIDE);
  let unpacked = 0;
  const bound = transform((chunk) => {
    unpacked += chunk.length;
    if (unpacked > most) throw new CommandFailure("it holds more than the manifest tells");
  });
  const entries = extract();
  const left = new Map(model.files.map((file) => [`${archive.root}/${file.path}`, file]));
  const source = createReadStream(path);
  const ends = await Promise.allSettled([
    takeAll(entries, left, target),
    pipeline(source, counter, unbzip2(), bound, entries, { signal }),
  ]);
  const faults = ends.flatMap((end) => (end.status === "rejected" ? [end.reason as unknown] : []));
  signal.throwIfAborted();
  const [missing] = left.keys();
  if (faults.length === 0 && missing !== undefined) faults.push(`it holds no file ${missing}`);
  if (faults.length === 0) return;
  // Each end of a pipe that broke says so; what broke it says more.
  const fault = faults.find((each) => each instanceof CommandFailure) ?? faults[0];
  throw new CommandFailure(
    `The archive ${archive.url} cannot be unpacked: ${reasonOf(fault)}`,
    fault,
  );
}

/** A stream that looks at what passes; what `inspect` throws ends it. */
function transform(inspect: (chunk: Buffer) => void): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      try {
        inspect(chunk);
        done(null, chunk);
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    },
  });
}

/** Takes from `left` what it finds. */
async function takeAll(
  entries: AsyncIterable<Entry>,
  left: Map<string, ModelFile>,
  target: string,
): Promise<void> {
  const wanted = new Set(left.keys());
  for await (const entry of entries) {
    const name = entry.header.name.replace(/^(\.\/)+/, "");
    const file = left.get(name);
    if (file === undefined) {
      if (wanted.has(name)) throw new CommandFailure(`it holds ${name} twice`);
      for await (const _ of entry);
      continue;
    }
    left.delete(name);
    if (entry.header.type !== "file" && entry.header.type !== "contiguous-file") {
      throw new CommandFailure(`its ${name} is no file, but a ${entry.header.type}`);
    }
    if (entry.header.size !== file.bytes) {
      throw new CommandFailure(
        `its ${name} has ${entry.header.size} bytes, and not the ${file.bytes} of the manifest`,
      );
    }
    await keep(entry as unknown as Readable, file, join(target, file.path));
  }
}

/** Only a file whose checksum is right gets its name. */
async function keep(content: Readable, file: ModelFile, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const hash = createHash("sha256");
  const hashing = transform((chunk) => hash.update(chunk));
  const part = partOf(path);
  try {
    await pipeline(content, hashing, createWriteStream(part));
    const found = hash.digest("hex");
    if (found !== file.sha256) {
      throw new CommandFailure(
        `its ${file.path} is not what the manifest tells (SHA-256 ${found} instead of ${file.sha256})`,
      );
    }
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}
