import { accessSync, constants } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { type DecoderLimits, decoderArguments } from "./decoder-limits.ts";

const ENTRY = fileURLToPath(new URL("bundled-decoder.ts", import.meta.url));
/** Of FFmpeg's program; the bundled one bounds itself. */
const CPU_SECONDS = 900;
const OPEN_FILES = 16;

/** A program that decodes its standard input, a regular file, to WAV on its standard output. */
export interface DecoderProgram {
  /** For logs and people: `ffmpeg`, or `@ffmpeg/core`. */
  readonly name: string;
  readonly command: string;
  args(limits: DecoderLimits): string[];
}

/**
 * The operator's FFmpeg where there is one, which is two to three times as fast; else the bundled
 * one. Undefined where neither is installed.
 *
 * @param choice `auto`; `bundled`, whatever is installed; or the path of an FFmpeg
 */
export function findDecoder(
  choice: string,
  path: string = process.env.PATH ?? "",
): DecoderProgram | undefined {
  const own = isAbsolute(choice) ? choice : findProgram("ffmpeg", path);
  if (choice !== "bundled" && own !== undefined) return ffmpegProgram(own, path);
  return bundledDecoder();
}

/** FFmpeg below limits that the system keeps, where `prlimit` is there. */
function ffmpegProgram(ffmpeg: string, path: string): DecoderProgram {
  const prlimit = findProgram("prlimit", path);
  return {
    name: "ffmpeg",
    command: prlimit ?? ffmpeg,
    args: ({ memoryBytes }) => {
      // The descriptor's own path can be read anywhere in it; a pipe could not.
      const args = decoderArguments("/proc/self/fd/0", "pipe:1");
      if (prlimit === undefined) return args;
      const limits = [`--as=${memoryBytes}`, `--cpu=${CPU_SECONDS}`, `--nofile=${OPEN_FILES}`];
      return [...limits, "--fsize=0", "--core=0", ffmpeg, ...args];
    },
  };
}

function bundledDecoder(): DecoderProgram | undefined {
  const folder = coreFolder();
  if (folder === undefined) return undefined;
  return {
    name: "@ffmpeg/core",
    command: process.execPath,
    args: (limits) => [
      "--disable-warning=ExperimentalWarning",
      "--permission",
      ...[`--allow-fs-read=${dirname(ENTRY)}/`, `--allow-fs-read=${folder}/`],
      ...[ENTRY, folder, JSON.stringify(limits)],
    ],
  };
}

function coreFolder(): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve("@ffmpeg/core"));
  } catch {
    return undefined;
  }
}

function findProgram(name: string, path: string): string | undefined {
  return path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
