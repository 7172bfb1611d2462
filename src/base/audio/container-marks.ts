import { isMpegStart } from "./mpeg-frames.ts";

/** A kind of audio file, named as in sentences. */
export type Container = "Ogg" | "WebM" | "WAV" | "FLAC" | "MP4" | "MP3";

/** The container that the first bytes begin; "none", or "more" when more bytes are needed. */
type Marked = Container | "none" | "more";

/** Most bytes that a decision needs: MPEG audio's longest frame, and the header after it. */
export const MOST_HEAD_BYTES = 2_884;

interface Mark {
  container: Container;
  /** The required values of the first bytes; a function accepts several values. */
  bytes: readonly (number | ((byte: number) => boolean))[];
}

const any = () => true;
const is = (text: string) => [...text].map((letter) => letter.charCodeAt(0));
const below80 = (byte: number) => byte < 0x80;

const MARKS: readonly Mark[] = [
  { container: "Ogg", bytes: is("OggS") },
  { container: "WebM", bytes: [0x1a, 0x45, 0xdf, 0xa3] },
  { container: "WAV", bytes: is("RIFF") },
  { container: "WAV", bytes: is("RF64") },
  { container: "WAV", bytes: is("BW64") },
  { container: "FLAC", bytes: is("fLaC") },
  // The first box is never as long as 64 KiB.
  { container: "MP4", bytes: [0, 0, any, any, ...is("ftyp")] },
  // ID3v2.2 to 2.4: the revision is 0, the size is four times seven bits.
  {
    container: "MP3",
    bytes: [
      ...is("ID3"),
      (version) => version >= 2 && version <= 4,
      0,
      (flags) => (flags & 0x0f) === 0,
      below80,
      below80,
      below80,
      below80,
    ],
  },
];

/**
 * Tells whether a stream that should be bare audio begins a file instead. Marks of four bytes and
 * more occur by chance in one of four thousand million streams. MPEG audio has weaker headers and
 * counts only when a second header stands where the first one announces it.
 *
 * @param head the first `MOST_HEAD_BYTES` bytes, or those that are there yet
 */
export function markedContainer(head: Uint8Array): Marked {
  let marked: Marked = isMpegStart(head);
  for (const { container, bytes } of MARKS) {
    const there = Math.min(head.byteLength, bytes.length);
    let met = 0;
    while (met < there && fits(bytes[met], head[met])) met += 1;
    if (met === bytes.length) return container;
    if (met === head.byteLength && marked === "none") marked = "more";
  }
  return marked;
}

function fits(wanted: Mark["bytes"][number] | undefined, byte = -1): boolean {
  return typeof wanted === "function" ? wanted(byte) : wanted === byte;
}
