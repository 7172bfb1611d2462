import type { LivePiece } from "../features/recording/stream-finalizer.ts";
import type { Suspect } from "../session/status.ts";
import type { Voices } from "../session/write.ts";

/** Port: stored audio and the state to resume from, as a reading needs them. */
export interface AudioSource {
  /** What a reading begins with. */
  opening(place: OpeningPlace): Promise<Opening>;
  /** Placed chunks with sequence >= `fromSequence`, in order, at most `limit`. */
  placed(sessionId: string, fromSequence: number, limit: number): Promise<PlacedChunk[]>;
  /** The stored bytes of a chunk. Throws `not_found` when the audio was deleted. */
  bytes(sessionId: string, sha256: string): Promise<Buffer>;
  /** Pieces of a chunk that is being streamed, from `piece` on, in order; none when it is sealed. */
  pieces(sessionId: string, sequence: number, piece: number, limit: number): Promise<LivePiece[]>;
}

export interface OpeningPlace {
  sessionId: string;
  /** The attempt of the reading that begins. */
  attempt: number;
  /** The attempt whose checkpoints are resumed from. */
  checkpointAttempt: number;
  /** It begins there or before. */
  position: number;
}

export interface Opening {
  /** The newest one at or before the position; undefined when there is none. */
  checkpoint: StoredCheckpoint | undefined;
  /** The highest placed sequence that starts at or before the checkpoint; 0 without one. */
  sequence: number;
  /** Chunks at which readings of the attempt broke so far. */
  suspects: Suspect[];
  /** The session's own words, and the names of its workshop's active characters. */
  vocabulary: string[];
  /** Whether viewers want hypotheses, as the newest connection that streamed into it said. */
  interim: boolean;
}

export interface PlacedChunk {
  sequence: number;
  /** Samples at 16 kHz. */
  start: number;
  length: number;
  /** Of sound in it: more than its length where it came late and its place was kept shorter. */
  samples: number;
  mediaType: string;
  sha256: string;
}

export interface StoredCheckpoint {
  position: number;
  recogniser: Buffer;
  speakers: Buffer;
  /** Whose its clusters are; undefined when nobody noted it. */
  voices: Voices | undefined;
}
