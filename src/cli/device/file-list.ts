import { readdirSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { CommandFailure, reasonOf } from "../client/command-context.ts";

const ENDINGS: ReadonlySet<string> = new Set([
  ...[".wav", ".wave", ".flac", ".mp3", ".ogg", ".oga", ".opus", ".webm"],
]);

/** True for a file's name that promises sound which the service reads. */
export function isSoundName(name: string): boolean {
  return ENDINGS.has(extname(name).toLowerCase()) && !name.startsWith(".");
}

/**
 * The files that paths name: of a folder those whose names promise sound, by name, without its
 * sub-folders. Throws CommandFailure for a path that is not there.
 */
export function filesOf(paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    if (!isFolder(path)) return [path];
    return readdirSync(path)
      .filter(isSoundName)
      .sort()
      .map((name) => join(path, name));
  });
}

/** Throws CommandFailure when nothing is there. */
export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    throw new CommandFailure(`cannot read ${path}: ${reasonOf(error)}`, error);
  }
}
