import type { LiveAudio, LiveFinalize, LivePiece } from "../api/stream-pieces.ts";
import { decodeJson, encodeJson } from "../wire/envelope.ts";

const NEWLINE = 0x0a;

/** A line of JSON, then the bytes of the audio. */
export function encodeAudio(audio: LiveAudio): Uint8Array {
  if (audio.kind === "finalize") return encodeJson(audio);
  const { data, ...head } = audio;
  const line = encodeJson(head);
  const bytes = new Uint8Array(line.byteLength + 1 + data.byteLength);
  bytes.set(line);
  bytes[line.byteLength] = NEWLINE;
  bytes.set(data, line.byteLength + 1);
  return bytes;
}

/** Undefined when the bytes are something else. */
export function decodeAudio(bytes: Uint8Array): LiveAudio | undefined {
  const end = bytes.indexOf(NEWLINE);
  const head = decodeJson(end < 0 ? bytes : bytes.subarray(0, end)) as
    | Partial<LivePiece | LiveFinalize>
    | undefined;
  if (typeof head?.sequence !== "number" || typeof head.piece !== "number") return undefined;
  if (head.kind === "finalize") return head as LiveFinalize;
  if (head.kind !== "piece" || end < 0) return undefined;
  return { ...(head as LivePiece), data: bytes.subarray(end + 1) };
}
