import type {
  DurableFrame,
  InterimResultsFrame,
  ServerFrame,
  SessionStatus,
} from "../wire/live-frames.ts";

/** A frame encoded once for all of its receivers. */
export interface EncodedFrame {
  type: ServerFrame["type"];
  /** Present on durable frames only. */
  seq: number | undefined;
  /** The frame describes the moment only, so a follower can do without it. */
  transient: boolean;
  /** The session's status, when the frame contains it. */
  status: SessionStatus | undefined;
  bytes: Uint8Array;
}

/** Encodes frames for the followers of a feed. */
export type FrameEncoder = (frame: ServerFrame) => EncodedFrame;

/** True for a frame of the journal, which has a place in the session's order. */
export function isDurable(frame: ServerFrame): frame is DurableFrame {
  return "at" in frame && typeof frame.at === "string" && "seq" in frame;
}

/** The properties of an encoded frame besides its bytes. */
export function metadataOf(frame: ServerFrame): Omit<EncodedFrame, "bytes"> {
  const status = statusIn(frame);
  const { type } = frame;
  if (isDurable(frame)) return { type, seq: frame.seq, transient: false, status };
  return { type, seq: undefined, transient: !LASTING.has(type), status };
}

/** Frames that are not in the journal but must not be dropped. */
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

/** Encodes a frame as JSON. */
export function encodeFrame(frame: ServerFrame): EncodedFrame {
  return { ...metadataOf(frame), bytes: Buffer.from(JSON.stringify(frame), "utf8") };
}

type Entry = { encoded: EncodedFrame } | { frame: ServerFrame };

/** Most transient frames of one tick. */
export const MAX_TRANSIENT = 256;

function isInterim(frame: ServerFrame): frame is InterimResultsFrame {
  return frame.type === "Results" && !frame.is_final;
}

/**
 * Frames that are sent together at the end of a tick, in order. All durable frames stay; of a
 * segment's interim results only the newest stays, and none when the segment's final is there.
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

  /** Adds a durable frame; `finalSegment` is the id of the segment whose final it is. */
  addDurable(encoded: EncodedFrame, finalSegment: string | undefined): void {
    if (finalSegment !== undefined) this.#dropInterim(finalSegment);
    this.#entries.push({ encoded });
    this.#hasDurable = true;
  }

  /** Adds a transient frame; drops it when the tick has `MAX_TRANSIENT` already. */
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

  /** Drops the hypotheses that must not be shown any more. */
  withdraw(isWithdrawn: (frame: InterimResultsFrame) => boolean): void {
    for (const [segmentId, { frame }] of [...this.#interims]) {
      if (isWithdrawn(frame)) this.#dropInterim(segmentId);
    }
  }

  /** Returns all frames, each encoded once, and empties the batch. */
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

/** Approximate memory of a frame besides its bytes. */
const FRAME_BYTES = 256;

/** The newest durable frames of a session, without gaps, bounded in number and in bytes. */
export class RecentFrames {
  readonly #capacity: number;
  readonly #room: () => number;
  #frames: EncodedFrame[] = [];
  #bytes = 0;
  #head: number | undefined;

  /**
   * @param capacity number of frames to keep
   * @param room returns the bytes that they may take now
   */
  constructor(capacity: number, room: () => number) {
    this.#capacity = capacity;
    this.#room = room;
  }

  /** The newest seq that was seen; undefined before the first. */
  get head(): number | undefined {
    return this.#head;
  }

  /** Memory of the kept frames, bytes. */
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
    // Drops more frames than necessary, so that they are not moved for each new one.
    this.#keep(Math.min(this.#capacity, this.#frames.length), room / 2);
  }

  /** Drops the frames but not `head`, because their words may have been withdrawn. */
  forget(): void {
    this.#frames = [];
    this.#bytes = 0;
  }

  /** All frames after `position`; undefined when some of them are not kept. */
  since(position: number): EncodedFrame[] | undefined {
    if (this.#head === undefined) return undefined;
    const missing = this.#head - position;
    if (missing <= 0) return [];
    return missing <= this.#frames.length ? this.#frames.slice(-missing) : undefined;
  }

  /** Keeps the newest frames, as many as fit. */
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
