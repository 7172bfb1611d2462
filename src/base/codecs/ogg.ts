import type { FileBytes } from "./file-bytes.ts";

/** The fixed part of a page header (RFC 3533). */
const HEADER_BYTES = 27;
/** Header, 255 lengths and as many segments of 255 bytes. */
const LONGEST_PAGE = HEADER_BYTES + 255 + 255 * 255;
const FLAG_CONTINUED = 1;
const FLAG_FIRST = 2;
const FLAG_LAST = 4;
/** The longest packet that is put together from pages: the set-up header of Vorbis may be long. */
const LONGEST_PACKET = 256 * 1024;
const MARK = Buffer.from("OggS", "latin1");

/** One logical stream of an Ogg file, or of a part of one. */
export interface OggStream {
  packets: Uint8Array[];
  /** Granule position of the last page on which a packet ends; undefined when no page tells one. */
  granule: number | undefined;
  /** Granule position of the first page on which sound ends. */
  firstGranule: number | undefined;
  /** Packets up to the end of the page that told `granule`; more follow where a page is cut off. */
  timed: number;
  /** The stream says that it ends. */
  isEnded: boolean;
  /** Whether another stream of this kind follows the first one. */
  isChained: boolean;
  /** What the next part needs before it: the packet that is not complete, and the rest of its page. */
  rest: Uint8Array;
  /** Something else follows the last whole page than the beginning of a page. */
  isCutOff: boolean;
  /** Where the pages of the headers end: at the first page with a granule position above 0. */
  headEnd: number;
}

interface Page {
  at: number;
  end: number;
  flags: number;
  /** -1 when no packet ends on the page. */
  granule: number;
  serial: number;
  segments: Uint8Array;
  body: number;
  /** Of a page that is cut off: its packets that are not complete, as a page of their own. */
  rest?: Uint8Array;
}

/**
 * Reads the packets of the first stream that begins with a packet that `wants` accepts. Damaged
 * parts are skipped up to the next page. Undefined when there is no such stream.
 */
export function readOgg(
  bytes: Uint8Array,
  wants: (packet: Uint8Array) => boolean,
): OggStream | undefined {
  const reader = new StreamReader(bytes, wants);
  let end = 0;
  let rest: Uint8Array | undefined;
  for (const page of pagesOf(bytes)) {
    reader.read(page);
    if (page.rest === undefined) end = page.end;
    rest = page.rest;
  }
  return reader.finish(end, rest);
}

/** First packets of all streams that the file begins with. */
export function oggKinds(bytes: Uint8Array): Uint8Array[] {
  const kinds: Uint8Array[] = [];
  for (const page of pagesOf(bytes)) {
    if ((page.flags & FLAG_FIRST) === 0) break;
    kinds.push(bytes.subarray(page.body, page.end));
  }
  return kinds;
}

/**
 * Where a stream begins behind others that no reader of theirs reaches: one of another kind, or any
 * behind one that is not `chainable`. Undefined when there is none.
 *
 * @param window bytes that are looked through at a time, more than the longest page
 */
export function joinedOggStream(
  file: FileBytes,
  chainable: (packet: Uint8Array) => boolean,
  window: number,
): number | undefined {
  let [isBegun, isChain] = [false, true];
  for (let from = 0; from < file.size; ) {
    const bytes = file.read(from, window);
    const isLast = from + bytes.length >= file.size;
    let end = 0;
    for (const page of pagesOf(bytes)) {
      // What is cut off by the window is whole in the next one.
      if (page.rest !== undefined && !isLast) break;
      end = page.end;
      if ((page.flags & FLAG_FIRST) === 0) {
        isBegun = true;
        continue;
      }
      const isChainable = chainable(bytes.subarray(page.body, page.end));
      if (isBegun && !(isChain && isChainable)) return from + page.at;
      isChain &&= isChainable;
    }
    from += isLast ? bytes.length : Math.max(end, bytes.length - LONGEST_PAGE);
  }
  return undefined;
}

class StreamReader {
  readonly #bytes: Uint8Array;
  readonly #wants: (packet: Uint8Array) => boolean;
  #serial: number | undefined;
  readonly #stream: Omit<OggStream, "rest" | "isCutOff"> = {
    packets: [],
    granule: undefined,
    firstGranule: undefined,
    timed: 0,
    isEnded: false,
    isChained: false,
    headEnd: 0,
  };
  /** Parts of a packet that goes on. */
  #parts: Uint8Array[] = [];
  #length = 0;

  constructor(bytes: Uint8Array, wants: (packet: Uint8Array) => boolean) {
    this.#bytes = bytes;
    this.#wants = wants;
  }

  read(page: Page): void {
    const isFirst = (page.flags & FLAG_FIRST) !== 0;
    if (isFirst && this.#wants(this.#bytes.subarray(page.body, page.end))) {
      if (this.#serial !== undefined) this.#stream.isChained = true;
      this.#serial = page.serial;
      this.#drop();
    }
    if (page.serial !== this.#serial) return;
    const before = this.#stream.packets.length;
    this.#readPackets(page);
    if ((page.flags & FLAG_LAST) !== 0) this.#stream.isEnded = true;
    if (page.granule <= 0) return;
    if (this.#stream.firstGranule === undefined) {
      this.#stream.headEnd = page.at;
      this.#stream.firstGranule = page.granule;
    }
    if (this.#stream.packets.length <= before) return;
    this.#stream.granule = page.granule;
    this.#stream.timed = this.#stream.packets.length;
  }

  #readPackets({ segments, body, flags }: Page): void {
    // A packet whose beginning is missing is left out.
    let isHeadless = (flags & FLAG_CONTINUED) !== 0 && this.#parts.length === 0;
    if ((flags & FLAG_CONTINUED) === 0) this.#drop();
    let from = body;
    let at = body;
    for (const segment of segments) {
      at += segment;
      if (segment === 255) continue;
      if (!isHeadless) this.#complete(this.#bytes.subarray(from, at));
      isHeadless = false;
      from = at;
    }
    if (at > from || segments.at(-1) === 255) {
      if (!isHeadless) this.#keep(this.#bytes.subarray(from, at));
    }
  }

  #complete(part: Uint8Array): void {
    const whole = this.#parts.length === 0 ? part : Buffer.concat([...this.#parts, part]);
    this.#drop();
    if (whole.byteLength <= LONGEST_PACKET) this.#stream.packets.push(whole);
  }

  #keep(part: Uint8Array): void {
    this.#length += part.byteLength;
    if (this.#length <= LONGEST_PACKET) this.#parts.push(part);
    else this.#drop();
  }

  #drop(): void {
    this.#parts = [];
    this.#length = 0;
  }

  /**
   * @param end of the last whole page
   * @param cut what is left of a page behind it
   */
  finish(end: number, cut?: Uint8Array): OggStream | undefined {
    if (this.#serial === undefined) return undefined;
    const tail = cut ?? this.#bytes.subarray(end);
    const headEnd = this.#stream.headEnd === 0 ? end : this.#stream.headEnd;
    // Only a page that is cut off is kept for the next part.
    const isPage = MARK.equals(tail.subarray(0, 4)) || MARK.subarray(0, tail.length).equals(tail);
    const parts = [...openPages(this.#parts, this.#serial), ...(isPage ? [tail] : [])];
    return { ...this.#stream, headEnd, rest: Buffer.concat(parts), isCutOff: !isPage };
  }
}

/**
 * A packet that goes on, as pages of its own: with them before it, the next part of the stream
 * completes the packet.
 */
function openPages(parts: readonly Uint8Array[], serial: number): Uint8Array[] {
  const data = Buffer.concat(parts);
  const pages: Uint8Array[] = [];
  for (let at = 0; at < data.byteLength; at += 255 * 255) {
    const body = data.subarray(at, at + 255 * 255);
    const segments = new Uint8Array(Math.floor(body.byteLength / 255)).fill(255);
    const page = Buffer.alloc(HEADER_BYTES);
    MARK.copy(page);
    page[5] = at === 0 ? 0 : FLAG_CONTINUED;
    page.writeBigInt64LE(-1n, 6);
    page.writeUInt32LE(serial, 14);
    page[26] = segments.byteLength;
    pages.push(page, segments, body);
  }
  return pages;
}

function* pagesOf(bytes: Uint8Array): Generator<Page> {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = data.indexOf(MARK); at >= 0; ) {
    const page = pageAt(data, at);
    if (page === "more") {
      const begun = beginningAt(data, at);
      if (begun !== undefined) yield begun;
      return;
    }
    if (page !== undefined) yield page;
    at = data.indexOf(MARK, page?.end ?? at + 1);
  }
}

/** The page that begins here; "more" when its end is missing, undefined when it is none. */
function pageAt(data: Buffer, at: number): Page | "more" | undefined {
  if (at + HEADER_BYTES > data.byteLength) return "more";
  if (data[at + 4] !== 0) return undefined;
  const count = data[at + 26] ?? 0;
  const body = at + HEADER_BYTES + count;
  const segments = data.subarray(at + HEADER_BYTES, body);
  const end = body + segments.reduce((sum, each) => sum + each, 0);
  if (body > data.byteLength || end > data.byteLength) {
    // A page whose length is damaged hides no further page.
    return data.indexOf(MARK, at + 1) < 0 ? "more" : undefined;
  }
  const granule = data.readBigInt64LE(at + 6);
  const isNumber = granule >= 0n && granule <= BigInt(Number.MAX_SAFE_INTEGER);
  return {
    at,
    end,
    flags: data[at + 5] ?? 0,
    granule: isNumber ? Number(granule) : -1,
    serial: data.readUInt32LE(at + 14),
    segments,
    body,
  };
}

/** Of a page whose end is missing, the packets that are whole; undefined when none is. */
function beginningAt(data: Buffer, at: number): Page | undefined {
  const body = at + HEADER_BYTES + (data[at + 26] ?? 0);
  const all = data.subarray(at + HEADER_BYTES, body);
  let [count, end] = [0, body];
  for (let next = 0, to = body; next < all.byteLength; next += 1) {
    to += all[next] ?? 0;
    if (to > data.byteLength) break;
    if (all[next] !== 255) [count, end] = [next + 1, to];
  }
  if (count === 0) return undefined;
  const flags = data[at + 5] ?? 0;
  const head = Buffer.from(data.subarray(at, at + HEADER_BYTES));
  head[5] = flags & ~(FLAG_CONTINUED | FLAG_FIRST);
  head[26] = all.byteLength - count;
  return {
    at,
    end,
    flags: flags & ~FLAG_LAST,
    granule: -1,
    serial: data.readUInt32LE(at + 14),
    segments: all.subarray(0, count),
    body,
    rest: Buffer.concat([head, all.subarray(count), data.subarray(end)]),
  };
}
