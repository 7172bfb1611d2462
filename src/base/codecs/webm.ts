import { childrenOf, UNKNOWN_SIZE, unsigned, vintAt } from "./ebml.ts";
import { type FileBytes, findMark } from "./file-bytes.ts";
import { type OpusHead, plainHead, readOpusHead } from "./opus-head.ts";

/** Ids of the elements of Matroska (RFC 9559) that are read or stepped into. */
const ID = {
  ebml: 0x1a45dfa3,
  docType: 0x4282,
  segment: 0x18538067,
  tracks: 0x1654ae6b,
  track: 0xae,
  number: 0xd7,
  codec: 0x86,
  codecPrivate: 0x63a2,
  audio: 0xe1,
  channels: 0x9f,
  encodings: 0x6d80,
  cluster: 0x1f43b675,
  group: 0xa0,
  block: 0xa1,
  simpleBlock: 0xa3,
} as const;
const STEPPED_INTO: ReadonlySet<number> = new Set([ID.segment, ID.cluster, ID.group]);
/**
 * Elements that may stand between blocks and are stepped over: Void, CRC-32, SeekHead, Info, Cues,
 * Tags, Chapters, Attachments, and the small ones of clusters and groups.
 */
const STEPPED_OVER: ReadonlySet<number> = new Set([
  ID.ebml,
  ID.tracks,
  ...[0xec, 0xbf, 0x114d9b74, 0x1549a966, 0x1c53bb6b, 0x1254c367, 0x1043a770, 0x1941a469],
  ...[0xe7, 0xa7, 0xab, 0x5854, 0x9b, 0xfb, 0xa2, 0x75a1, 0x75a2, 0xfa, 0xfd, 0xa4, 0x8e, 0xc8],
]);
const CLUSTER_MARK = Buffer.from([0x1f, 0x43, 0xb6, 0x75]);
const EBML_MARK = Buffer.from([0x1a, 0x45, 0xdf, 0xa3]);
const SEGMENT_MARK = Buffer.from([0x18, 0x53, 0x80, 0x67]);
/** Those of a header are some forty bytes. */
const LONGEST_EBML = 128;
/** Marks and lengths of an EBML header and of the segment behind it. */
const LONGEST_SEGMENT_HEAD = LONGEST_EBML + 24;
/** Most marks that are looked at whether a file begins there. */
const MOST_MARKS = 40;
/** The longest block: a lace of Opus packets is far shorter. */
const LONGEST_BLOCK = 64 * 1024;
/** Blocks of speech are hardly longer. */
const USUAL_BLOCK = 4 * 1024;
const LONGEST_TRACKS = 64 * 1024;
const AUDIO_CODECS = new Map([
  ["A_OPUS", "Opus"],
  ["A_VORBIS", "Vorbis"],
  ["A_AAC", "AAC"],
  ["A_FLAC", "FLAC"],
]);

/** The sound of a WebM or Matroska file, or of a part of one that follows its head. */
interface WebmAudio {
  /** Undefined when no audio track is listed. */
  codec: string | undefined;
  /** Whether tracks are listed, of whatever kind. */
  hasTracks: boolean;
  head: OpusHead | undefined;
  packets: Uint8Array[];
  /** Where the first cluster begins; everything before it is the head. */
  headEnd: number;
  /** A block, or an element between blocks, that is not there as a whole. */
  rest: Uint8Array;
  /** Bytes that were skipped because no element began there. */
  skipped: number;
}

interface Element {
  id: number;
  /** Offset of the contents. */
  from: number;
  /** Offset behind the element. */
  end: number;
}

interface Track {
  number: number;
  codec: string;
  head: OpusHead | undefined;
}

/**
 * Reads the Opus packets of the first audio track. Only bounded elements are read, one after the
 * other; where none begins, as in a damaged file or in a part that begins within a block, reading
 * goes on at the next block or cluster.
 */
export function readWebm(bytes: Uint8Array): WebmAudio {
  const reader = new WebmReader(bytes);
  reader.read();
  return reader.result();
}

/**
 * Where a file begins behind this one, whose sound `readWebm` does not read on; undefined when there
 * is none. A segment of unknown size ends with the bytes: there a mark counts when a whole header
 * follows, as it may occur in the sound.
 *
 * @param isOther whether a file of another kind begins at a place
 * @param window bytes that are looked through at a time
 */
export function behindWebm(
  file: FileBytes,
  isOther: (at: number) => boolean,
  window: number,
): number | undefined {
  let track: Track | undefined;
  let from = 0;
  for (let looked = 0; looked < MOST_MARKS; looked += 1) {
    const at = findMark(file, [EBML_MARK], from, window);
    if (at === undefined) return undefined;
    from = at + EBML_MARK.length;
    const segment = segmentOf(file, at);
    if (segment === undefined) continue;
    const next = trackOf(file.read(segment.from, LONGEST_TRACKS));
    if (at > 0 && !isAlike(track, next)) return at;
    track ??= next;
    from = segment.end ?? segment.from;
    if (segment.end !== undefined && isOther(segment.end)) return segment.end;
  }
  return undefined;
}

/** The segment behind a whole EBML header of a kind that is read; its end where it is told. */
function segmentOf(file: FileBytes, at: number): { from: number; end?: number } | undefined {
  const bytes = file.read(at, LONGEST_SEGMENT_HEAD);
  const size = vintAt(bytes, EBML_MARK.length);
  if (size === undefined || size.value < 0 || size.value > LONGEST_EBML) return undefined;
  const behind = size.end + size.value;
  const docType = childrenOf(bytes.subarray(size.end, behind)).find(([id]) => id === ID.docType);
  const name = Buffer.from(docType?.[1] ?? []).toString("latin1");
  if (!/^(webm|matroska)\0*$/.test(name)) return undefined;
  if (!SEGMENT_MARK.equals(bytes.subarray(behind, behind + SEGMENT_MARK.length))) return undefined;
  const length = vintAt(bytes, behind + SEGMENT_MARK.length);
  if (length === undefined) return undefined;
  const from = at + length.end;
  const isTold = length.value !== UNKNOWN_SIZE && from + length.value <= file.size;
  return { from, ...(isTold && { end: from + length.value }) };
}

/** The audio track of a segment by its first elements. */
function trackOf(segment: Uint8Array): Track | undefined {
  const tracks = childrenOf(segment).find(([id]) => id === ID.tracks);
  return tracks && audioTrack(tracks[1]);
}

class WebmReader {
  readonly #bytes: Uint8Array;
  readonly #packets: Uint8Array[] = [];
  #track: Track | undefined;
  #hasTracks = false;
  #headEnd: number | undefined;
  #at = 0;
  /** Where the next cluster begins that a search has found; so each byte is searched once. */
  #cluster = -1;
  #rest = new Uint8Array(0);
  #skipped = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  result(): WebmAudio {
    return {
      codec: this.#track?.codec,
      hasTracks: this.#hasTracks,
      head: this.#track?.head,
      packets: this.#packets,
      headEnd: this.#headEnd ?? this.#bytes.byteLength - this.#rest.byteLength,
      rest: this.#rest,
      skipped: this.#skipped,
    };
  }

  read(): void {
    const { byteLength } = this.#bytes;
    while (this.#at < byteLength) {
      const element = elementAt(this.#bytes, this.#at);
      if (element === "more" || (element !== undefined && this.#isOpen(element))) {
        this.#rest = this.#bytes.slice(this.#at);
        return;
      }
      if (element === undefined || element.end > byteLength) this.#skip();
      else this.#take(element);
    }
  }

  #take(element: Element): void {
    if (element.id === ID.cluster) this.#headEnd ??= this.#at;
    this.#at = STEPPED_INTO.has(element.id) ? element.from : element.end;
    const contents = this.#bytes.subarray(element.from, element.end);
    if (element.id === ID.tracks) {
      this.#hasTracks = true;
      this.#track = trackAfter(this.#track, audioTrack(contents));
    }
    if (element.id === ID.simpleBlock || element.id === ID.block) this.#takeBlock(contents);
  }

  #takeBlock(block: Uint8Array): void {
    const number = vintAt(block, 0);
    if (number === undefined || number.value !== this.#track?.number) return;
    // Two bytes of time, one of flags.
    const flags = block[number.end + 2] ?? 0;
    this.#packets.push(...unlaced(block, number.end + 3, (flags >> 1) & 3));
  }

  /** Goes on at the next place that looks like a block or a cluster. */
  #skip(): void {
    const at = this.#nextPlace(this.#at + 1);
    this.#skipped += at - this.#at;
    this.#at = at;
  }

  #nextPlace(at: number): number {
    const end = this.#nextCluster(at);
    while (at < end && !this.#isBlock(at)) at += 1;
    return at;
  }

  /** The end where there is none. */
  #nextCluster(at: number): number {
    if (this.#cluster >= at) return this.#cluster;
    const data = Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.byteLength);
    const found = data.indexOf(CLUSTER_MARK, at);
    this.#cluster = found < 0 ? data.byteLength : found;
    return this.#cluster;
  }

  /**
   * True for an element whose end is missing and may still come. Where so much is left that a
   * damaged length is likelier, there must be no other place to go on.
   */
  #isOpen({ id, from, end }: Element): boolean {
    const { byteLength } = this.#bytes;
    if (end <= byteLength || STEPPED_INTO.has(id) || end - from > LONGEST_BLOCK) return false;
    if (byteLength - this.#at <= USUAL_BLOCK) return true;
    return this.#nextPlace(this.#at + 1) === byteLength;
  }

  /** True for a block of the track that something known follows, or nothing; or a group of one. */
  #isBlock(at: number, mayBeGroup = true): boolean {
    const id = this.#bytes[at];
    if (id === ID.group && !mayBeGroup) return false;
    if (id !== ID.simpleBlock && id !== ID.block && id !== ID.group) return false;
    const element = elementAt(this.#bytes, at);
    if (element === undefined || element === "more") return false;
    if (id === ID.group) return this.#isBlock(element.from, false);
    const number = vintAt(this.#bytes, element.from);
    if (number?.value !== this.#track?.number) return false;
    if (element.end > this.#bytes.byteLength) return element.end - element.from <= LONGEST_BLOCK;
    const next = elementAt(this.#bytes, element.end);
    return next !== undefined;
  }
}

/** The known element that begins here; "more" when its head is cut off. */
function elementAt(bytes: Uint8Array, at: number): Element | "more" | undefined {
  const first = bytes[at];
  if (first === undefined) return "more";
  const width = Math.clz32(first) - 23;
  if (width > 4) return undefined;
  if (at + width > bytes.byteLength) return "more";
  let id = 0;
  for (let index = 0; index < width; index += 1) id = id * 256 + (bytes[at + index] ?? 0);
  const isInto = STEPPED_INTO.has(id);
  const isBlock = id === ID.simpleBlock || id === ID.block;
  if (!isInto && !isBlock && !STEPPED_OVER.has(id)) return undefined;
  const size = vintAt(bytes, at + width);
  if (size === undefined) return at + width + 8 > bytes.byteLength ? "more" : undefined;
  if (size.value === UNKNOWN_SIZE) return isInto ? endless(bytes, id, size.end) : undefined;
  if (isBlock && size.value > LONGEST_BLOCK) return undefined;
  const end = size.end + size.value;
  // A container is stepped into: how long it says it is does not matter.
  return isInto ? endless(bytes, id, size.end) : { id, from: size.end, end };
}

function endless(bytes: Uint8Array, id: number, from: number): Element {
  return { id, from, end: Math.max(from, bytes.byteLength) };
}

/** Of a file behind another one the track is read on that sounds the same, whatever its number is. */
function trackAfter(track: Track | undefined, next: Track | undefined): Track | undefined {
  return track === undefined || isAlike(track, next) ? next : track;
}

function isAlike(track: Track | undefined, next: Track | undefined): boolean {
  const [one, other] = [track?.head, next?.head];
  if (one?.streams !== 1 || other?.streams !== 1) return false;
  return one.channels === other.channels;
}

/** The first audio track; one whose packets are encrypted or compressed has no known codec. */
function audioTrack(tracks: Uint8Array): Track | undefined {
  if (tracks.byteLength > LONGEST_TRACKS) return undefined;
  for (const [id, contents] of childrenOf(tracks)) {
    if (id !== ID.track) continue;
    const parts = new Map(childrenOf(contents));
    const name = Buffer.from(parts.get(ID.codec) ?? []).toString("latin1");
    if (!name.startsWith("A_")) continue;
    const isPlain = !parts.has(ID.encodings);
    const codec = isPlain ? (AUDIO_CODECS.get(name.split("/")[0] ?? "") ?? name) : "encrypted";
    const number = unsigned(parts.get(ID.number) ?? new Uint8Array([1]));
    return { number, codec, head: codec === "Opus" ? opusHead(parts) : undefined };
  }
  return undefined;
}

function opusHead(parts: ReadonlyMap<number, Uint8Array>): OpusHead | undefined {
  const told = parts.get(ID.codecPrivate);
  if (told !== undefined) return readOpusHead(told);
  const audio = new Map(childrenOf(parts.get(ID.audio) ?? new Uint8Array(0)));
  const channels = unsigned(audio.get(ID.channels) ?? new Uint8Array([1]));
  return channels === 1 || channels === 2 ? plainHead(channels, 0) : undefined;
}

/** The packets of a block: one, or several in a lace of Xiph's, a fixed or EBML's kind. */
function unlaced(block: Uint8Array, at: number, lacing: number): Uint8Array[] {
  if (lacing === 0) return at < block.byteLength ? [block.subarray(at)] : [];
  const count = (block[at] ?? 0) + 1;
  at += 1;
  if (lacing === 2) {
    const size = Math.floor((block.byteLength - at) / count);
    return Array.from({ length: count }, (_, n) =>
      block.subarray(at + n * size, at + (n + 1) * size),
    );
  }
  const sizes = lacing === 1 ? xiphSizes(block, at, count) : ebmlSizes(block, at, count);
  if (sizes === undefined) return [];
  const packets: Uint8Array[] = [];
  let from = sizes.end;
  for (const size of sizes.sizes) {
    packets.push(block.subarray(from, from + size));
    from += size;
  }
  if (from > block.byteLength) return [];
  return [...packets, block.subarray(from)];
}

interface LaceSizes {
  /** Of all packets but the last one. */
  sizes: number[];
  end: number;
}

function xiphSizes(block: Uint8Array, at: number, count: number): LaceSizes | undefined {
  const sizes: number[] = [];
  while (sizes.length < count - 1) {
    let size = 0;
    let byte = 255;
    while (byte === 255) {
      if (at >= block.byteLength) return undefined;
      byte = block[at] ?? 0;
      size += byte;
      at += 1;
    }
    sizes.push(size);
  }
  return { sizes, end: at };
}

/** The first size is told, the further ones as differences. */
function ebmlSizes(block: Uint8Array, at: number, count: number): LaceSizes | undefined {
  const sizes: number[] = [];
  while (sizes.length < count - 1) {
    const vint = vintAt(block, at);
    if (vint === undefined) return undefined;
    const before = sizes.at(-1);
    const bias = 2 ** (7 * (vint.end - at) - 1) - 1;
    const size = before === undefined ? vint.value : before + vint.value - bias;
    if (size < 0 || size > block.byteLength) return undefined;
    sizes.push(size);
    at = vint.end;
  }
  return { sizes, end: at };
}
