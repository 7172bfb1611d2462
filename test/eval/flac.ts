import { execFileSync } from "node:child_process";
import { readRecording } from "./read-recording.ts";

const MOST_BYTES = 256 * 1024 * 1024;
const TIMEOUT_MS = 60_000;

/** Ways to turn a FLAC file into WAV on the standard output; the service itself reads none. */
const DECODERS: readonly { program: string; args: (file: string) => string[] }[] = [
  { program: "flac", args: (file) => ["--decode", "--stdout", "--silent", file] },
  { program: "sox", args: (file) => [file, "-t", "wav", "-b", "16", "-"] },
];

/** Decodes 16 kHz mono FLAC files with Debian's `flac` or `sox`, whichever is installed. */
export function findFlacDecoder(): ((file: string) => Int16Array) | undefined {
  const found = DECODERS.find(({ program }) => isInstalled(program));
  if (found === undefined) return undefined;
  return (file) =>
    readRecording(
      execFileSync(found.program, found.args(file), {
        maxBuffer: MOST_BYTES,
        timeout: TIMEOUT_MS,
        stdio: ["ignore", "pipe", "pipe"],
      }),
    );
}

function isInstalled(program: string): boolean {
  try {
    execFileSync(program, ["--version"], { stdio: "ignore", timeout: TIMEOUT_MS });
    return true;
  } catch {
    return false;
  }
}
