import { AppError, errnoOf, errorMessage, isAppError } from "../../../base/errors.ts";

/**
 * What became of a stored file: it is not there; it cannot be read; it is shorter than what was
 * stored; its bytes are others.
 */
export const DAMAGE_KINDS = ["gone", "unreadable", "cut", "changed"] as const;
export type DamageKind = (typeof DAMAGE_KINDS)[number];

/**
 * Errors of one file. All others, as of a host without descriptors or memory, or of a network that
 * does not answer, say nothing about the file and pass.
 */
const FILE_ERRORS: ReadonlySet<string> = new Set([
  ...["EIO", "EACCES", "EPERM", "EISDIR", "ENOTDIR", "ELOOP", "ENXIO", "ESTALE"],
  ...["EBADMSG", "EUCLEAN", "EILSEQ"],
]);

export interface Damage {
  kind: DamageKind;
  /** For people, without the path. */
  message: string;
}

/** The bytes of a stored file are not those that were stored. */
export class DamagedAudio extends Error {
  readonly damage: Damage;

  constructor(damage: Damage) {
    super(damage.message);
    this.name = "DamagedAudio";
    this.damage = damage;
  }
}

const GONE: Damage = { kind: "gone", message: "The stored audio of this chunk is gone." };

/** What is wrong with a file by the error of reading it; undefined for faults of something else. */
export function damageOf(error: unknown): Damage | undefined {
  if (error instanceof DamagedAudio) return error.damage;
  const errno = errnoOf(error);
  if (isAppError(error, "not_found") || errno === "ENOENT") return GONE;
  if (errno === undefined || !FILE_ERRORS.has(errno)) return undefined;
  const message = `The stored audio of this chunk cannot be read (${errno}: ${shortened(error)}).`;
  return { kind: "unreadable", message };
}

/** An error of the system as one that blames no audio and is tried again. */
export function passing(error: unknown): unknown {
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

/** What is on record about a file. */
export interface FileFacts {
  /** SHA-256 in hex of what it may hold. */
  digests: readonly string[];
  bytes: number;
  /** Parts of it are silenced, or shall be. */
  isSilenced: boolean;
  /** It was found damaged. */
  isNoted: boolean;
  /** The digests are on record, not only that of what was sent. */
  isKnown: boolean;
  /** An earlier release may have silenced it, or decoded it to a file of this length, without a note. */
  mayBeOther: "no" | "silenced" | "decoded";
}

/** What is wrong with a file of this length and digest; undefined when it is whole. */
export function judge(
  { digests, bytes, mayBeOther }: Pick<FileFacts, "digests" | "bytes" | "mayBeOther">,
  found: { sha256: string; bytes: number },
): Damage | undefined {
  if (digests.includes(found.sha256) || mayBeOther === "silenced") return undefined;
  if (found.bytes < bytes) {
    const message = `The stored audio of this chunk is damaged: ${found.bytes} of ${bytes} bytes are left.`;
    return { kind: "cut", message };
  }
  if (mayBeOther === "decoded" && found.bytes === bytes) return undefined;
  const message = "The stored audio of this chunk is damaged: its bytes are not those that came.";
  return { kind: "changed", message };
}
