import type {
  DurableFrame,
  InterimResultsFrame,
  ServerFrame,
  SessionStatus,
} from "../wire/live-frames.ts";

/** A frame turned into bytes once, for everybody who gets it. */
export interface EncodedFrame {
  /** Present on durable frames only. */
  seq: number | undefined;
  /** It tells of the moment only, so a follower may do without it. */
  transient: boolean;
  /** The session's status, when the frame tells it. */
  status: SessionStatus | undefined;
  bytes: Uint8Array;
}

/** How the followers of a feed get its frames. */
export type FrameEncoder = (frame: ServerFrame) => EncodedFrame;

/** True for a frame of the journal: it has a place in the session's order. */
export function isDurable(frame: ServerFrame): frame is DurableFrame {
  return "at" in frame && typeof frame.at === "string" && "seq" in frame;
}

/** What an encoded frame says besides its bytes. */
export function placeOf(frame: ServerFrame): Omit<EncodedFrame, "bytes"> {
  const status = statusIn(frame);
  if (isDurable(frame)) return { seq: frame.seq, transient: false, status };
  return { seq: undefined, transient: !LASTING.has(frame.type), status };
}

/** Not of the journal, and yet nobody may do without them. */
const LASTING: ReadonlySet<ServerFrame["type"]> = new Set<ServerFrame["type"]>([
  "Snapshot",
  "SessionEnded",
  "Warning",
  "Error",
]);

function statusIn(frame: ServerFrame): SessionStatus | undefined {
  if (frame.type === "Snapshot") return frame.session.status;
  return frame.type === "SessionStatus" ? frame.status : undefined;
}

/** As JSON. */
export function encodeFrame(frame: ServerFrame): EncodedFrame {
  return { ...placeOf(frame), bytes: Buffer.from(JSON.stringify(frame), "utf8") };
}

type Entry = { encoded: EncodedFrame } | { frame: ServerFrame };

/** Transient frames that one tick sends at most. */
export const MAX_TRANSIENT = 256;

function isInterim(frame: ServerFrame): frame is InterimResultsFrame {
  return frame.type === "Results" && !frame.is_final;
}

/**
 * What goes out together at the end of a tick, in order. Durable frames all
 * stay; of the interim results of a segment only the newest does, and none
 * once the segment's final is there.
 */
export class FrameBatch {
  readonly #encode: FrameEncoder;
  #entries: (Entry | undefined)[] = [];
  readonly #interims = new Map<string, { at: number; frame: InterimResultsFrame }>();
  #transient = 0;
  #hasDurable = false;

  constructor(encode: FrameEncoder = encodeFrame) {
    this.#encode = encode;
  }

  get transient(): number {
    return this.#transient;
  }

  get hasDurable(): boolean {
    return this.#hasDurable;
  }

  get empty(): boolean {
    return this.#entries.length === 0;
  }

  /** `finalSegment` names the segment whose final this is. */
  addDurable(encoded: EncodedFrame, finalSegment: string | undefined): void {
    if (finalSegment !== undefined) this.#dropInterim(finalSegment);
    this.#entries.push({ encoded });
    this.#hasDurable = true;
  }

  /** Dropped when a tick brings more than anybody could read. */
  addTransient(frame: ServerFrame): void {
    if (isInterim(frame)) {
      const known = this.#interims.get(frame.segment_id);
      if (known !== undefined && known.frame.revision > frame.revision) return;
      this.#dropInterim(frame.segment_id);
    }
    if (this.#transient >= MAX_TRANSIENT) return;
    this.#transient += 1;
    if (isInterim(frame)) {
      this.#interims.set(frame.segment_id, { at: this.#entries.length, frame });
    }
    this.#entries.push({ frame });
  }

  /** Drops the hypotheses that nobody may see any more. */
  withdraw(isWithdrawn: (frame: InterimResultsFrame) => boolean): void {
    for (const [segmentId, { frame }] of [...this.#interims]) {
      if (isWithdrawn(frame)) this.#dropInterim(segmentId);
    }
  }

  /** Everything, each frame encoded once; the batch is empty afterwards. */
  take(): EncodedFrame[] {
    const encoded: EncodedFrame[] = [];
    for (const entry of this.#entries) {
      if (entry === undefined) continue;
      encoded.push("encoded" in entry ? entry.encoded : this.#encode(entry.frame));
    }
    this.#entries = [];
    this.#interims.clear();
    this.#transient = 0;
    this.#hasDurable = false;
    return encoded;
  }

  #dropInterim(segmentId: string): void {
    const known = this.#interims.get(segmentId);
    if (known === undefined) return;
    this.#entries[known.at] = undefined;
    this.#interims.delete(segmentId);
    this.#transient -= 1;
  }
}

/** What a frame takes besides its bytes, roughly. */
const FRAME_BYTES = 256;

/** The newest durable frames of a session, without gaps, bounded in number and in bytes. */
export class RecentFrames {
  readonly #capacity: number;
  readonly #room: () => number;
  #frames: EncodedFrame[] = [];
  #bytes = 0;
  #head: number | undefined;

  /** @param room bytes that they may take at this moment */
  constructor(capacity: number, room: () => number) {
    this.#capacity = capacity;
    this.#room = room;
  }

  /** The newest seq that was seen; undefined while nothing is known. */
  get head(): number | undefined {
    return this.#head;
  }

  /** How much memory the kept frames take. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Sets the newest seq without having its frame. */
  establish(seq: number): void {
    this.#head ??= seq;
  }

  /** `seq` must be the one after `head`. */
  push(seq: number, frame: EncodedFrame): void {
    this.#head = seq;
    this.#frames.push(frame);
    this.#bytes += sizeOf(frame);
    const room = this.#room();
    if (this.#frames.length <= this.#capacity * 2 && this.#bytes <= room) return;
    // More than has to go, so that not each frame moves all others.
    this.#keep(Math.min(this.#capacity, this.#frames.length), room / 2);
  }

  /** Forgets the frames, not the place: their words may have been withdrawn. */
  forget(): void {
    this.#frames = [];
    this.#bytes = 0;
  }

  /** All frames after `position`; undefined when some of them are not here. */
  since(position: number): EncodedFrame[] | undefined {
    if (this.#head === undefined) return undefined;
    const missing = this.#head - position;
    if (missing <= 0) return [];
    return missing <= this.#frames.length ? this.#frames.slice(-missing) : undefined;
  }

  /** The newest of them, as many as fit. */
  #keep(most: number, room: number): void {
    let [count, bytes] = [0, 0];
    for (const frame of this.#frames.slice(-most).reverse()) {
      if (bytes + sizeOf(frame) > room) break;
      bytes += sizeOf(frame);
      count += 1;
    }
    this.#frames = count === 0 ? [] : this.#frames.slice(-count);
    this.#bytes = bytes;
  }
}

function sizeOf({ bytes }: EncodedFrame): number {
  return bytes.byteLength + FRAME_BYTES;
}
