import { readdirSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { reasonOf } from "../../client/errors.ts";
import { CommandFailure } from "../client/command-context.ts";

const READ_HERE = ".wav .wave .flac .mp3 .ogg .oga .opus .webm".split(" ");
const READ_BY_FFMPEG =
  ".m4a .mp4 .m4b .mov .3gp .3g2 .aac .caf .aif .aiff .aifc .amr .wma .au .mka .mkv".split(" ");

/** True for a file's name that promises sound which this program can read itself. */
export function isReadHere(name: string): boolean {
  return READ_HERE.includes(extname(name).toLowerCase()) && !name.startsWith(".");
}

/** True for a file's name that promises sound which the service reads. */
export function isSoundName(name: string): boolean {
  const isByFfmpeg = READ_BY_FFMPEG.includes(extname(name).toLowerCase());
  return isReadHere(name) || (isByFfmpeg && !name.startsWith("."));
}

/**
 * The files that paths name: of a folder those whose names promise sound, by name, without its
 * sub-folders. Throws CommandFailure for a path that is not there.
 *
 * @param isWanted by a name in a folder
 */
export function filesOf(paths: readonly string[], isWanted = isSoundName): string[] {
  return paths.flatMap((path) => {
    if (!isFolder(path)) return [path];
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => !entry.isDirectory() && isWanted(entry.name))
      .map(({ name }) => name)
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
