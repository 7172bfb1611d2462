import type { LiveFragment } from "../conversations/recording/chunk-assembler.ts";
import type { Damage } from "../conversations/recording/integrity/file-damage.ts";
import type { EngineRequest } from "../inference/engine-choice.ts";
import type { Suspect } from "../session/status.ts";
import type { Voices } from "../session/write.ts";

/** Port: reads stored audio and the state to resume from. */
export interface AudioSource {
  /** Reads what a reading needs at its beginning. */
  opening(place: OpeningPosition): Promise<Opening>;
  /** Placed chunks with sequence >= `fromSequence`, in order, at most `limit`. */
  placed(sessionId: string, fromSequence: number, limit: number): Promise<PlacedChunk[]>;
  /**
   * The stored bytes of a chunk; of a later part of a stream, whose sequence is `part`, with what
   * belongs before them. Throws `not_found` when the audio was deleted, and `DamagedAudio` when
   * other bytes are stored than `digests` of its chunk says.
   */
  bytes(
    sessionId: string,
    sha256: string,
    of: { digests: readonly string[] | undefined; part: number | undefined },
  ): Promise<Buffer>;
  /** Notes that a chunk's file is damaged, for its owner and for operators. Never rejects. */
  noteDamage(sessionId: string, sha256: string, damage: Damage): Promise<void>;
  /**
   * Fragments of a chunk that is being streamed, from `index` on, in order, at most `limit`; none when
   * the chunk is already stored as a whole.
   */
  fragments(
    sessionId: string,
    sequence: number,
    index: number,
    limit: number,
  ): Promise<LiveFragment[]>;
}

export interface OpeningPosition {
  sessionId: string;
  /** The attempt of the reading that begins. */
  attempt: number;
  /** The attempt from whose checkpoints it resumes. */
  checkpointAttempt: number;
  /** It begins at the newest checkpoint at or before this position. */
  position: number;
}

export interface Opening {
  /** The newest checkpoint at or before the position; undefined when there is none. */
  checkpoint: StoredCheckpoint | undefined;
  /**
   * From this sequence on the audio is fed, so that resampler and Opus decoder are where they were at
   * the checkpoint: the last placed chunk that begins at least `OPUS_PRE_ROLL` before the chunk at
   * the checkpoint. 0 where there is none.
   */
  sequence: number;
  /** Chunks at which readings of the attempt broke so far. */
  suspects: Suspect[];
  /** The session's own, the names of its workshop's active characters, and its workspace's. */
  vocabulary: string[];
  /** How many channels are one speaker each, and read by themselves; absent where they are mixed. */
  speakerChannels?: number | undefined;
  /** Which engine shall read in which language; absent for a session that no longer exists. */
  engineRequest?: EngineRequest | undefined;
  /**
   * Whether hypotheses are wanted, by the settings of the newest connection that streamed into the
   * session.
   */
  interim: boolean;
}

export interface PlacedChunk {
  sequence: number;
  /** Samples at 16 kHz. */
  start: number;
  length: number;
  /** Samples of its sound: more than `length` when it came late and its place was kept shorter. */
  samples: number;
  mediaType: string;
  sha256: string;
  /** SHA-256 in hex of what its file may hold; absent where an earlier release did not note it. */
  digests?: readonly string[] | undefined;
}

export interface StoredCheckpoint {
  position: number;
  recogniser: Buffer;
  speakers: Buffer;
  /** The labels of its clusters; undefined when they were not stored. */
  voices: Voices | undefined;
}
