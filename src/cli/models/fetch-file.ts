import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import { reasonOf } from "../../client/errors.ts";
import { CommandFailure } from "../client/command-context.ts";
import type { Model, ModelArchive, ModelFile } from "./manifest.ts";
import { partOf, sha256Of, sizeOf, stateOf } from "./model-folder.ts";

/** A server that does not answer for this long is given up, milliseconds. */
const CONNECT_MS = 5_000;
/** A source from which nothing comes for this long is given up, milliseconds. */
const STALL_MS = 30_000;
const TRIES = 3;

interface FetchOptions {
  folder: string;
  /** A folder, or the address of a mirror, in whose place the files lie as ID/PATH. */
  from: string | undefined;
  signal: AbortSignal;
  /** Told how many bytes of the file are there. */
  onProgress(bytes: number): void;
}

/**
 * Brings one file of a model: what is there and right stays, what was begun is continued, and only a
 * file whose checksum is right gets its name. Throws CommandFailure.
 */
export async function fetchFile(
  model: Model,
  file: ModelFile,
  options: FetchOptions,
): Promise<"was there" | "fetched"> {
  const { folder, signal } = options;
  const path = join(folder, model.id, file.path);
  if ((await stateOf(folder, model, file, signal)) === "whole") {
    options.onProgress(file.bytes);
    return "was there";
  }
  await mkdir(dirname(path), { recursive: true });
  for (let tries = 1; ; tries += 1) {
    try {
      await bring(model, file, partOf(path), options);
      break;
    } catch (error) {
      if (signal.aborted) throw error;
      if (tries >= TRIES || error instanceof CommandFailure) {
        throw failureOf(file.path, error);
      }
    }
  }
  const found = await sha256Of(partOf(path), signal);
  if (found !== file.sha256) {
    await rm(partOf(path), { force: true });
    throw new CommandFailure(
      `${file.path} is not what the manifest tells (SHA-256 ${found} instead of ${file.sha256}) and was deleted: is the source right?`,
    );
  }
  await rename(partOf(path), path);
  return "fetched";
}

/**
 * Brings the archive of a model from its publisher, unpacks the files of the manifest and deletes
 * it. What was begun is continued. Throws CommandFailure.
 *
 * @param onUnpack told how many bytes of the archive are read
 */
export async function fetchArchive(
  model: Model,
  archive: ModelArchive,
  options: Omit<FetchOptions, "from"> & { onUnpack(bytes: number): void },
): Promise<void> {
  const { folder, signal, onUnpack } = options;
  const name = archive.url.slice(archive.url.lastIndexOf("/") + 1);
  const whole = { path: name, url: archive.url, bytes: archive.bytes, sha256: archive.sha256 };
  await fetchFile(model, whole, { ...options, from: undefined });
  const target = join(folder, model.id);
  const path = join(target, name);
  // Few commands need what reads archives.
  const { unpackArchive } = await import("./unpack-archive.ts");
  try {
    await unpackArchive(model, archive, { path, target, signal, onProgress: onUnpack });
  } catch (error) {
    throw signal.aborted ? error : failureOf(name, error);
  }
  await rm(path, { force: true });
}

function failureOf(path: string, error: unknown): CommandFailure {
  const codes = [error, error instanceof Error ? error.cause : undefined].map((each) =>
    each instanceof Error && "code" in each ? each.code : undefined,
  );
  if (codes.includes("ENOSPC") || codes.includes("EDQUOT")) {
    return new CommandFailure(
      `${path} could not be written: the disk is full. Make room, or name another folder in VOICE_MODEL_DIR; the same command goes on where it stopped.`,
      error,
    );
  }
  if (error instanceof CommandFailure) {
    return new CommandFailure(`${path} could not be fetched: ${error.message}`, error);
  }
  return new CommandFailure(
    `${path} could not be fetched: ${reasonOf(error)}. The same command goes on where it stopped; without a network, name a folder or mirror that has it in VOICE_MODELS_MIRROR.`,
    error,
  );
}

async function bring(
  { id }: Model,
  { path, url, bytes }: ModelFile,
  part: string,
  { from, signal, onProgress }: FetchOptions,
): Promise<void> {
  let begun = (await sizeOf(part)) ?? 0;
  if (begun > bytes) {
    await rm(part, { force: true });
    begun = 0;
  }
  if (begun === bytes) return;
  const stall = new AbortController();
  const watch = setTimeout(() => stall.abort(new Error("nothing comes any more")), STALL_MS);
  const ended = AbortSignal.any([signal, stall.signal]);
  try {
    if (from === undefined && url === undefined) {
      throw new CommandFailure(
        "the manifest names no address for it: name a mirror that has it in VOICE_MODELS_MIRROR",
      );
    }
    const isRemote = from === undefined || /^https?:\/\//.test(from);
    const source = isRemote
      ? await download(mirrored(url ?? "", from, `${id}/${path}`), begun, ended)
      : { stream: await fileStream(join(from, id, path), begun), start: begun };
    let count = source.start;
    const counter = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        watch.refresh();
        count += chunk.length;
        onProgress(Math.min(count, bytes));
        done(
          count > bytes
            ? new CommandFailure(
                `it is larger than the ${bytes} bytes of the manifest: is the source right?`,
              )
            : null,
          chunk,
        );
      },
    });
    const flags = source.start === 0 ? "w" : "a";
    await pipeline(source.stream, counter, createWriteStream(part, { flags }), { signal: ended });
    if (count < bytes) throw new Error(`it broke off after ${count} of ${bytes} bytes`);
  } finally {
    clearTimeout(watch);
  }
}

function mirrored(url: string, mirror: string | undefined, path: string): string {
  return mirror === undefined ? url : `${mirror.replace(/\/+$/, "")}/${path}`;
}

async function fileStream(path: string, start: number): Promise<Readable> {
  await stat(path).catch((error: unknown) => {
    throw new CommandFailure(`the mirror has no file ${path}: put it there`, error);
  });
  return createReadStream(path, { start });
}

async function download(
  url: string,
  begun: number,
  signal: AbortSignal,
): Promise<{ stream: Readable; start: number }> {
  const headers: Record<string, string> = begun > 0 ? { range: `bytes=${begun}-` } : {};
  const connecting = new AbortController();
  const timer = setTimeout(
    () => connecting.abort(new Error(`${new URL(url).host} does not answer within 5 s`)),
    CONNECT_MS,
  );
  let response: Response;
  try {
    // The time-out ends with the answer's head; what follows is watched by the caller.
    response = await fetch(url, { headers, signal: AbortSignal.any([signal, connecting.signal]) });
  } finally {
    clearTimeout(timer);
  }
  if (response.status !== 200 && response.status !== 206) {
    await response.body?.cancel();
    const message =
      response.status === 404
        ? `${url} does not exist: put the file there, or name another mirror in VOICE_MODELS_MIRROR`
        : `${new URL(url).host} answers ${response.status}`;
    throw response.status < 500 ? new CommandFailure(message) : new Error(message);
  }
  if (response.body === null) throw new Error("the server sends nothing");
  // A server without ranges sends all of it again.
  const start = response.status === 206 ? begun : 0;
  return { stream: Readable.fromWeb(response.body as ReadableStream), start };
}
