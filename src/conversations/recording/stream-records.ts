import type { OutboxRow } from "../../postgres/outbox.ts";
import type { SessionPhase } from "../../session/status.ts";
import type { RecordedFragments } from "./audio-files/stored-fragments.ts";
import type { NewChunk, StoredChunk } from "./chunk-store.ts";

/** The settings of a stream, as the device sends them in Configure. */
export interface StreamSettings {
  encoding: "pcm_s16le" | "mulaw" | "opus";
  /** Rate of PCM and µ-law, Hz; Opus is decoded at 16 kHz, whatever its source rate. */
  sampleRate: number;
  channels: number;
  /**
   * For Opus: each message is one packet, or holds packets each after its length as uint16
   * big-endian.
   */
  framing: "packet" | "length_prefixed";
  /** Whether viewers want hypotheses of this audio. */
  interim: boolean;
}

/** How to read the bytes of a stream. */
export interface StreamFormat {
  /** The media type under which workers read the resulting chunks. */
  mediaType: string;
  /** Rate at which its frames are counted, Hz. */
  sampleRate: number;
}

/** A connection's ownership of a session's stream. */
export interface StreamHold {
  sessionId: string;
  /** Rises with every connection; a superseded connection can write nothing more. */
  epoch: number;
}

export interface TakenStream extends StreamHold {
  status: SessionPhase;
  settings: StreamSettings;
  /** Number of stream bytes that are stored. */
  offset: number;
  /** Seq of the session's newest durable event. */
  seq: number;
  /** Sequence of the chunk that was begun last. */
  sequence?: number | undefined;
  /** The lowest sequence above those of all chunks and streamed audio. */
  nextSequence: number;
  /** Settings of the previous connection, if there was one. */
  settingsBefore?: StreamSettings | undefined;
  /**
   * Seconds of sound that the session may take on now, besides what passes meanwhile: a few bytes of
   * Opus may hold hours. Any number by default.
   */
  mostSeconds?: number;
}

/** A fragment of a chunk that is being streamed, whole frames only. */
export interface AudioFragment {
  sequence: number;
  /** Number of the fragment, from 0 within its chunk. */
  index: number;
  format: StreamFormat;
  frames: number;
  data: Uint8Array;
  /** Number of the device stream's bytes that are in it. */
  streamBytes: number;
  /** The log in which the bytes are durable; absent where the record itself has to keep them. */
  log?: string | undefined;
}

export interface PlannedFragment extends Omit<AudioFragment, "sequence" | "index"> {}

/**
 * Port: audio that devices stream. Every method throws `unavailable` (outcome unknown: safe to
 * repeat), `session_ended` and `session_deleted` when the session takes no more, `superseded` when
 * a newer connection owns the stream, and `stale_epoch` when this one was abandoned and must
 * connect again.
 */
export interface AudioStreamStore {
  /**
   * Makes the caller the only writer, with these settings or those of the previous connection. Also
   * throws `not_found`, and `conflict` when there are no settings. `accept` checks the stream
   * before it is taken: when it throws, the owner stays the same.
   */
  take(
    sessionId: string,
    settings?: StreamSettings,
    accept?: (taken: TakenStream) => void,
  ): Promise<TakenStream>;
  /**
   * Begins the session's next chunk with its first fragment, after everything stored before; durable
   * on return. Repeatable with the same `after`, the sequence of the chunk that was begun before
   * it.
   */
  begin(
    hold: StreamHold,
    after: number | undefined,
    fragment: PlannedFragment,
  ): Promise<{ sequence: number; outbox: OutboxRow[] }>;
  /** Adds a fragment to the chunk that was begun last; durable on return. Repeatable. */
  append(hold: StreamHold, fragment: AudioFragment): Promise<void>;
}

/** Identifies streamed audio that will become a chunk. */
export interface OpenChunk {
  sessionId: string;
  sequence: number;
}

export interface OpenAudio extends RecordedFragments {
  format: StreamFormat;
}

/** Port: streamed audio that is not stored as chunks yet. */
export interface OpenChunks {
  /** What is on record of the chunk's fragments; undefined when there are none any more. */
  read(chunk: OpenChunk): Promise<OpenAudio | undefined>;
  /**
   * Stores the chunk's row and the command to its session and deletes the fragments, in one
   * transaction; durable on return. Undefined when fragments were added or removed since they were
   * read; then read them again.
   */
  complete(
    chunk: NewChunk,
    fragments: number,
  ): Promise<{ chunk: StoredChunk; outbox: OutboxRow[] } | undefined>;
  /** Open chunks of one session, in order. */
  of(sessionId: string): Promise<OpenChunk[]>;
  /**
   * Open chunks to which nothing was added for `age` milliseconds. Their connections can add
   * nothing to them from then on.
   */
  abandoned(age: number, limit: number): Promise<OpenChunk[]>;
}
