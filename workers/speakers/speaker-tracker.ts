/**
 * Tracks who is speaking in one session, incrementally.
 *
 * Positions are absolute samples of the session's timeline at 16 kHz mono. Cluster ids are small
 * integers, stable within a session and attempt, and never reused; -1 means unknown. The tracker
 * only proposes; the session's actor assigns labels. The same audio and the same calls give the
 * same answers, also when it is restored from a checkpoint in between.
 */
export interface SpeakerTracker {
  /** Name and version of the method, for `diarisation_model_version`. */
  readonly modelVersion: string;
  /** Takes the next audio, in order; what is missing in between was lost. The work per call is bounded. */
  push(start: number, pcm: Int16Array): void;
  /**
   * The cluster that speaks in the newest audio, for interim results; -1 while unknown. For a new voice it is
   * the name that the next new voice gets, which the utterance's turns may give to another.
   */
  currentCluster(): number;
  /** An utterance has begun at `start`, so that what it takes can be asked for while it is spoken. */
  begin?(start: number): void;
  /**
   * Asks for what `turns` needs. True when it may be called; false while an answer is still to come,
   * which `onNews` tells. Repeatable. Throws AppError `unavailable` when the networks failed.
   */
  settle?(start: number, end: number): boolean;
  /** The listener is called when `settle` would have something new to say. */
  onNews?(listener: (() => void) | undefined): void;
  /** Turns that cover the finished utterance [start, end), in order and without gaps. */
  turns(start: number, end: number): SpeakerTurn[];
  /**
   * Records the segments made from an utterance's turns, so that later proposals can name them.
   * Nothing before the utterance's `end` may be requested afterwards.
   */
  commit(segments: readonly SpeakerTurn[], end: number): void;
  /** Committed segments that now belong to another cluster, and clusters that were merged. */
  revisions(): SpeakerProposal;
  /** Regroups the whole session: every committed segment gets its final cluster. */
  finalPass(): SpeakerProposal;
  /** Clusters heard so far that later proposals may name; their number is bounded. */
  clusters(): number[];
  /** Nobody waits for its answers any more. */
  close?(): void;
  /** Opaque state after the newest commit; its size is bounded, however long the session is. */
  checkpoint(): Uint8Array;
}

export interface SpeakerTurn {
  start: number;
  end: number;
  /** Where its last speech ends, at most `end`; undefined while unknown. */
  spokenTo?: number | undefined;
  cluster: number;
  /**
   * How likely the voice is the cluster's rather than the next likely voice's, 0..1; 0 while
   * unknown.
   */
  confidence: number;
  /** Who else speaks within it, as far as that is known. */
  overlaps?: readonly OverlappingSpeech[];
}

/** Speech of a cluster within the turn of another one. */
interface OverlappingSpeech {
  start: number;
  end: number;
  cluster: number;
}

export interface SpeakerProposal {
  segments: { start: number; cluster: number }[];
  merges: { from: number; into: number }[];
}
