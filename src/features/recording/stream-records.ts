import type { OutboxRow } from "../../postgres/outbox.ts";
import type { SessionPhase } from "../../session/status.ts";
import type { NewChunk, StoredChunk } from "./chunk-store.ts";

/** As a device says it in Configure. */
export interface StreamSettings {
  encoding: "pcm_s16le" | "mulaw" | "opus";
  /** Of PCM and µ-law; Opus is decoded at 16 kHz whatever its packets were made from. */
  sampleRate: number;
  channels: number;
  /** Opus: each message is one packet, or packets each after its length as uint16 big-endian. */
  framing: "packet" | "length_prefixed";
  /** Whether viewers want hypotheses of this audio. */
  interim: boolean;
}

/** How the bytes of a stream are to be read. */
export interface StreamFormat {
  /** As workers read the chunks that the stream becomes. */
  mediaType: string;
  /** Rate in which its frames are counted. */
  sampleRate: number;
}

/** What a connection holds of a session's stream. */
export interface StreamHold {
  sessionId: string;
  /** Rises with every connection: one that was superseded writes nothing more. */
  epoch: number;
}

export interface TakenStream extends StreamHold {
  status: SessionPhase;
  settings: StreamSettings;
  /** Bytes of the stream that are stored. */
  offset: number;
  /** Newest durable event of the session. */
  seq: number;
  /** The chunk that was begun last. */
  sequence?: number | undefined;
  /** Those of the connection before, if there was one. */
  settingsBefore?: StreamSettings | undefined;
}

/** A piece of a chunk that is being streamed, whole frames only. */
export interface AudioPiece {
  sequence: number;
  /** Counts from 0 within its chunk. */
  piece: number;
  format: StreamFormat;
  frames: number;
  data: Uint8Array;
  /** Bytes of the device's stream that are in it. */
  streamBytes: number;
}

export interface PlannedPiece extends Omit<AudioPiece, "sequence" | "piece"> {}

/**
 * Port: audio that devices stream. Every method throws `unavailable` (outcome
 * unknown: safe to repeat), `session_ended` and `session_deleted` when the
 * session takes no more, `superseded` when a newer connection has it, and
 * `stale_epoch` when this one was given up: to be taken again.
 */
export interface AudioStreamStore {
  /**
   * Makes the caller the only one that may write, with these settings or those
   * of the connection before. Throws `not_found` too, and `conflict` when there
   * were none before. `accept` looks at what would be taken: when it throws, the
   * stream stays with whoever has it.
   */
  take(
    sessionId: string,
    settings?: StreamSettings,
    accept?: (taken: TakenStream) => void,
  ): Promise<TakenStream>;
  /**
   * Begins the session's next chunk with its first piece, after everything
   * stored before; durable on return. Repeatable with the same `after`, the
   * chunk that was begun before it.
   */
  begin(
    hold: StreamHold,
    after: number | undefined,
    piece: PlannedPiece,
  ): Promise<{ sequence: number; outbox: OutboxRow[] }>;
  /** Adds a piece to the chunk that was begun last; durable on return. Repeatable. */
  append(hold: StreamHold, piece: AudioPiece): Promise<void>;
}

/** What is to become a chunk. */
export interface OpenChunk {
  sessionId: string;
  sequence: number;
}

export interface UnsealedAudio {
  format: StreamFormat;
  pieces: number;
  frames: number;
  data: Buffer;
}

/** Port: streamed chunks that are not stored as chunks yet. */
export interface OpenChunks {
  /** Its pieces joined; undefined when there are none any more. */
  read(chunk: OpenChunk): Promise<UnsealedAudio | undefined>;
  /**
   * The chunk's row, the command that tells the session, and no pieces any
   * more, all or nothing; durable on return. Undefined when pieces came or went
   * since they were read: to be read again.
   */
  seal(
    chunk: NewChunk,
    pieces: number,
  ): Promise<{ chunk: StoredChunk; outbox: OutboxRow[] } | undefined>;
  /** Those of one session, in order. */
  of(sessionId: string): Promise<OpenChunk[]>;
  /**
   * Chunks that nobody goes on with: the connection that began them is gone for
   * longer than `age` milliseconds. From then on it adds nothing to them.
   */
  abandoned(age: number, limit: number): Promise<OpenChunk[]>;
}
