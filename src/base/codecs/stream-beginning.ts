import { readOgg } from "./ogg.ts";
import { soundKind } from "./sound-kinds.ts";
import { readWebm } from "./webm.ts";

/** The first bytes of each kind; an Ogg page's next byte tells whether it is the first. */
const MARKS = {
  ogg: Buffer.from("OggS\0"),
  webm: Buffer.from("\x1a\x45\xdf\xa3", "latin1"),
} as const;
/** Headers that are longer, with pictures in them, are read as a file. */
const LONGEST = 64 * 1024;

/**
 * The kind of stream of which these bytes are the beginning, cut before all of its headers are there:
 * recorders cut anywhere, also behind the first byte. Undefined for anything else, and for no bytes.
 */
export function streamBeginning(bytes: Uint8Array): keyof typeof MARKS | undefined {
  if (bytes.byteLength === 0 || bytes.byteLength > LONGEST) return undefined;
  const begun = (["ogg", "webm"] as const).find((name) =>
    MARKS[name].subarray(0, bytes.byteLength).equals(bytes),
  );
  if (begun !== undefined) return begun;
  const kind = soundKind(bytes);
  if (kind === "webm") {
    const { hasTracks, headEnd, rest, skipped } = readWebm(bytes);
    const isCut = headEnd + rest.byteLength === bytes.byteLength;
    return !hasTracks && skipped === 0 && isCut ? "webm" : undefined;
  }
  // No page is whole.
  const isOpen = kind === "ogg" && readOgg(bytes, () => true) === undefined;
  return isOpen ? "ogg" : undefined;
}
