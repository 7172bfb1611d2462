import type { BackOff } from "../../client/back-off.ts";
import { ApiError, Unreachable, type VoiceError } from "../../client/errors.ts";
import { otherFile } from "../../wire/other-files.ts";
import { sizeText } from "./file-facts.ts";

/** What to do about an upload that did not get through. */
type NextStep =
  /** The same once more, after a pause. */
  | { readonly kind: "again"; readonly away: "network" | "service" }
  /** From the beginning, into another session: the service has forgotten this one. */
  | { readonly kind: "anew" }
  | { readonly kind: "fail" };

/** A file is sent however long the service is away, unless its person has it otherwise. */
export const UPLOAD_BACK_OFF: BackOff = {
  attempts: Number.POSITIVE_INFINITY,
  firstMs: 1_000,
  longestMs: 30_000,
  longestAskedMs: Number.POSITIVE_INFINITY,
};

export function nextStep(error: VoiceError): NextStep {
  if (error.isRetryable) return { kind: "again", away: awayOf(error) };
  const status = error instanceof ApiError ? error.status : 0;
  if (status === 404 || status === 410 || error.code === "session_ended") return { kind: "anew" };
  return { kind: "fail" };
}

/** What an upload waits for. */
export function awayOf(error: unknown): "network" | "service" {
  return error instanceof Unreachable ? "network" : "service";
}

/** First bytes of a file that `refusalOf` looks at. */
export const HEAD_BYTES = 64;

const TAKEN =
  "Audio and video files are taken, such as MP3, M4A, WAV, FLAC, Ogg, WebM, MP4 and MOV.";
/** Kinds by the browser's word, which goes by the name's ending. */
const OTHER_TYPES =
  /^(image|text|font|model|message)\/|^application\/(pdf|json|xml|zip|msword|rtf|javascript|vnd\.(openxmlformats|oasis|ms-)[^/]*)/;
/** Less of printable characters may be chance. */
const LEAST_TEXT = 16;

interface Candidate {
  /** Bytes. */
  readonly size: number;
  /** The media type that the browser gives it, or "". */
  readonly type: string;
}

/**
 * Why a file is not sent, in a sentence; undefined where the service has to judge, which it does by
 * the first part that comes. What audio it takes is for the service to say: only what surely holds
 * no sound is refused here.
 *
 * @param head its first bytes
 * @param mostBytes the largest file that the service takes; undefined where it has not said
 */
export function refusalOf(
  { size, type }: Candidate,
  head: Uint8Array,
  mostBytes: number | undefined,
): string | undefined {
  if (size === 0) return "The file is empty.";
  const other = otherFile(head);
  if (other !== undefined) return `This is ${other}, without sound. ${TAKEN}`;
  if (OTHER_TYPES.test(type) || isText(head)) return `There is no sound in this file. ${TAKEN}`;
  if (mostBytes !== undefined && size > mostBytes) {
    return `The file is too large: it has ${sizeText(size)}, and at most ${sizeText(mostBytes)} are taken.`;
  }
  return undefined;
}

function isText(head: Uint8Array): boolean {
  if (head.byteLength < LEAST_TEXT) return false;
  return head.every((byte) => (byte >= 0x20 && byte < 0x7f) || [0x09, 0x0a, 0x0d].includes(byte));
}

const BY_CODE: Readonly<Record<string, string>> = {
  not_audio: `The service finds no sound in this file. ${TAKEN}`,
  unsupported_media_type: `The service cannot read this kind of file. ${TAKEN}`,
  payload_too_large: "The file is too large for the service.",
};

/** What the service refuses a file for, by its code; undefined for what is no fault of the file. */
export function refusalByCode(code: string): string | undefined {
  return BY_CODE[code];
}
