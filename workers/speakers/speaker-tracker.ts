/**
 * Port: who is speaking, incrementally, in one session.
 *
 * Positions are absolute samples of the session's timeline at 16 kHz mono.
 * Cluster ids are small integers, stable within a session and attempt, never
 * reused; -1 means unknown. The tracker only proposes: labels are the actor's.
 * Given the same audio and the same calls it gives the same answers, also when
 * restored from a checkpoint in between.
 */
export interface SpeakerTracker {
  /** Name and version of the method, for `diarisation_model_version`. */
  readonly modelVersion: string;
  /** Takes the next audio, in order and without overlap. Bounded work per call. */
  push(start: number, pcm: Int16Array): void;
  /** The audio up to `position` is missing. */
  skip(position: number): void;
  /** The cluster speaking at the newest audio, -1 while unknown (for interim results). */
  currentCluster(): number;
  /** Turns that cover the finished utterance [start, end), in order, without holes. */
  turns(start: number, end: number): SpeakerTurn[];
  /**
   * Tells which segments were made of an utterance's turns, so that later proposals can name them;
   * nothing before the utterance's `end` will be asked for again.
   */
  commit(segments: readonly SpeakerTurn[], end: number): void;
  /** Committed segments whose cluster is now another one, and clusters found to be the same voice. */
  revisions(): SpeakerProposal;
  /** Looks at the whole session again: all that was committed gets its final cluster. */
  finalPass(): SpeakerProposal;
  /** Clusters that it may still name of those heard so far. A bounded number. */
  clusters(): number[];
  /** State after the newest commit, opaque. Of bounded size, however long the session is. */
  checkpoint(): Uint8Array;
}

export interface SpeakerTurn {
  start: number;
  end: number;
  cluster: number;
}

export interface SpeakerProposal {
  segments: { start: number; cluster: number }[];
  merges: { from: number; into: number }[];
}
