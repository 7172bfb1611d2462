import type { Span } from "../../session/span.ts";

/** A session's audio as it lies on its timeline: 16 kHz, mono, 16 bits. */
export interface Recording {
  /** Samples from the start of the timeline to the end of what has its place there. */
  samples: number;
  /** Another one whenever any sample may be another. */
  version: string;
  /** Another one whenever more was redacted. */
  redactions: string;
  /**
   * The samples of [from, to) in order, little endian, in pieces of at most
   * 64 KiB. What never came, cannot be decoded or was redacted is silence.
   * Reads only the audio it needs, when it is asked for the next piece. Throws
   * `session_deleted` when the session was deleted meanwhile.
   */
  read(from: number, to: number): AsyncIterable<Uint8Array>;
}

/** Port: recordings by session. Throws `unavailable` when storage is away. */
export interface Recordings {
  open(sessionId: string): Promise<Recording>;
  /**
   * One chunk from its first sample to its last, also where its place on the timeline is shorter.
   * Undefined when there is no such chunk, or it has no place yet.
   */
  openChunk(sessionId: string, sequence: number): Promise<Recording | undefined>;
}

/** Port: what nobody may hear any more of a session; in order, not overlapping. */
export interface RedactedSpans {
  of(sessionId: string): Promise<Span[]>;
}
