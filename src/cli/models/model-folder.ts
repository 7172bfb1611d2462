import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Model, ModelFile } from "./manifest.ts";

/** How a file on disk compares with its line of the manifest. */
export type FileState = "whole" | "absent" | "partial" | "other";

const SHIPPED = join(import.meta.dirname, "../../../workers/models");

/** The folder of the model's files; that of a shipped model lies in the project. */
function placeOf(folder: string, { id, shipped }: Model): string {
  return join(shipped ? SHIPPED : folder, id);
}

/** Name of a file that is being fetched. */
export function partOf(path: string): string {
  return `${path}.part`;
}

/** Its size in bytes; undefined when there is none. */
export async function sizeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    (found) => found.size,
    () => undefined,
  );
}

export async function sha256Of(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  for await (const part of createReadStream(path, { signal })) hash.update(part as Buffer);
  return hash.digest("hex");
}

/** Looks at size and, when `signal` is given, at the checksum of each file. */
export async function stateOf(
  folder: string,
  model: Model,
  { path, bytes, sha256 }: ModelFile,
  signal?: AbortSignal,
): Promise<FileState> {
  const whole = join(placeOf(folder, model), path);
  const size = await sizeOf(whole);
  if (size === undefined) {
    return (await sizeOf(partOf(whole))) === undefined ? "absent" : "partial";
  }
  if (size !== bytes) return "other";
  if (signal === undefined) return "whole";
  return (await sha256Of(whole, signal)) === sha256 ? "whole" : "other";
}

/** Deletes a model's folder. */
export async function removeModel(folder: string, id: string): Promise<void> {
  await rm(join(folder, id), { recursive: true, force: true });
}
