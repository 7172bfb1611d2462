import { AppError, errnoOf, errorMessage, isAppError } from "../base/errors.ts";
import type { Runtime } from "../base/runtime.ts";
import type { AudioSource } from "./audio-source.ts";

/**
 * Waits between the tries to read a stored file, milliseconds: a network's file system may miss a
 * file for a moment.
 */
const WAITS = [200, 800, 3_000];

/**
 * Errors of one file. All others, as of a host without descriptors or memory, or of a network that
 * does not answer, say nothing about the file and pass.
 */
const FILE_ERRORS: ReadonlySet<string> = new Set([
  ...["EIO", "EACCES", "EPERM", "EISDIR", "ENOTDIR", "ELOOP", "ENXIO", "ESTALE"],
  ...["EBADMSG", "EUCLEAN", "EILSEQ"],
]);

interface StoredSoundOptions {
  source: Pick<AudioSource, "bytes">;
  runtime: Pick<Runtime, "delay">;
  /** False once nobody wants the bytes any more. */
  isWanted(): boolean;
}

interface StoredSound {
  sessionId: string;
  sha256: string;
  /** Sequence of a piece of a stream, see `AudioSource.bytes`. */
  piece: number | undefined;
}

/**
 * The stored bytes of a chunk; `damaged`, with a sentence for people, when its own file is gone or
 * cannot be read. Throws when the whole store is away or the host lacks something, which is no fault
 * of this file: `unavailable` for errors of the system.
 */
export async function readStoredSound(
  { source, runtime, isWanted }: StoredSoundOptions,
  { sessionId, sha256, piece }: StoredSound,
): Promise<{ data: Buffer } | { damaged: string } | undefined> {
  for (let tries = 0; isWanted(); tries += 1) {
    try {
      return { data: await source.bytes(sessionId, sha256, piece) };
    } catch (error) {
      const damage = damageOf(error);
      if (damage === undefined) throw passing(error);
      const wait = WAITS[tries];
      if (wait === undefined) return { damaged: damage };
      await runtime.delay(wait);
    }
  }
  return undefined;
}

/** What is wrong with a file, for people; undefined for faults of something else. */
function damageOf(error: unknown): string | undefined {
  if (isAppError(error, "not_found")) return "The stored audio of this chunk is gone.";
  const errno = errnoOf(error);
  if (errno === undefined || !FILE_ERRORS.has(errno)) return undefined;
  return `The stored audio of this chunk cannot be read (${errno}: ${shortened(error)}).`;
}

/** An error of the system as one that blames no audio and is tried again. */
function passing(error: unknown): unknown {
  if (!/^E[A-Z0-9]+$/.test(errnoOf(error) ?? "")) return error;
  return new AppError("unavailable", "The stored audio cannot be read just now.", { cause: error });
}

/** Without the path, which is nobody's business. */
function shortened(error: unknown): string {
  return (
    errorMessage(error)
      .replace(/^\w+: /, "")
      .split(",")[0] ?? ""
  );
}
