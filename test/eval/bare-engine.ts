import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { ENGINE_SETTINGS } from "../../workers/speech/pocketsphinx/pocketsphinx-recogniser.ts";
import { normaliseWords } from "./normalise-words.ts";

/** A word with its times in seconds from the start of the recording. */
export interface TimedWord {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

export interface BareEngine {
  readonly program: string;
  /** Folder with `usr/lib` and `usr/share` as Debian lays them out; "/" for the system's own. */
  readonly root: string;
}

const PROGRAM = "pocketsphinx_continuous";
const TIMEOUT_MS = 600_000;
const MOST_OUTPUT_BYTES = 64 * 1024 * 1024;
const run = promisify(execFile);

/** Looks in the PATH, then below each root. */
export function findBareEngine(roots: readonly string[], path: string): BareEngine | undefined {
  for (const folder of path.split(delimiter).filter(Boolean)) {
    const program = join(folder, PROGRAM);
    if (existsSync(program)) return { program, root: "/" };
  }
  return roots
    .map((root) => ({ root, program: join(root, "usr/bin", PROGRAM) }))
    .find(({ program }) => existsSync(program));
}

/**
 * What the engine by itself hears in a whole, unbroken 16 kHz mono WAV file, with the service's
 * settings. With `keepSilence` the recording is one utterance and word times count every frame;
 * without it (the engine's default) words are those of its normal use, but its clock leaves out
 * the silence that it removes, so its times run early.
 */
export async function readWithBareEngine(
  { program, root }: BareEngine,
  file: string,
  { keepSilence }: { keepSilence: boolean },
): Promise<TimedWord[]> {
  const model = join(root, "usr/share/pocketsphinx/model/en-us");
  const args = [
    ...["-infile", file, "-time", "yes", ...ENGINE_SETTINGS],
    ...["-hmm", join(model, "en-us"), "-lm", join(model, "en-us.lm.bin")],
    ...["-dict", join(model, "cmudict-en-us.dict")],
    ...(keepSilence ? ["-remove_silence", "no"] : []),
  ];
  const { stdout } = await run(program, args, {
    env: root === "/" ? process.env : { ...process.env, LD_LIBRARY_PATH: libraryPath(root) },
    timeout: TIMEOUT_MS,
    maxBuffer: MOST_OUTPUT_BYTES,
  });
  return parseTimes(stdout);
}

/** Lines of `word start end posterior`; the hypotheses between them have no numbers. */
export function parseTimes(printed: string): TimedWord[] {
  return printed.split("\n").flatMap((line) => {
    const match = /^(\S+) (\d+\.\d{3}) (\d+\.\d{3}) (\d+\.\d+)$/.exec(line.trim());
    if (match === null) return [];
    const [, token = "", start, end] = match;
    return normaliseWords(token).map((word) => ({ word, start: Number(start), end: Number(end) }));
  });
}

function libraryPath(root: string): string {
  const machine = process.arch === "arm64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
  const folders = [`usr/lib/${machine}`, `lib/${machine}`];
  const inside = ["", "/blas", "/lapack", "/pulseaudio"];
  return folders
    .flatMap((folder) => inside.map((name) => join(root, folder + name)))
    .join(delimiter);
}
