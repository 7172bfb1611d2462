import type { Signs } from "./device-signs.ts";
import type { OutsideCommand } from "./outside-command.ts";
import type { Span } from "./segments.ts";
import type { Suspect } from "./status.ts";
import type { Voices, Word } from "./write.ts";

/** The commands of a session, from outside or from its own effects. */
export type SessionCommand = OutsideCommand | InsideCommand;

/** The command type with this `type`. */
export type CommandOf<T extends SessionCommand["type"]> = Extract<SessionCommand, { type: T }>;

type InsideCommand =
  | ChunkMeasuredCommand
  | GapTimeoutCommand
  | LateTimeoutCommand
  | RecognitionOpenedCommand
  | UtteranceCommand
  | ProgressCommand
  | ChunkFailedCommand
  | SuspectedCommand
  | RecognitionDoneCommand
  | LanguageUnsupportedCommand
  | RetranscriptionCommand
  | RedoProgressCommand;

/** The length of a later part of a stream is known, or why it cannot be read. */
interface ChunkMeasuredCommand {
  type: "ChunkMeasured";
  sequence: number;
  frames: number;
  sampleRate: number;
  unreadable?: string;
  /** Its stored file is damaged. */
  damaged?: true;
}

/** The wait for `sequence` is over, except after the stop while its device may still send it. */
export interface GapTimeoutCommand {
  type: "GapTimeout";
  sequence: number;
  /** Absent when the session has no device; then nothing more is awaited. */
  signs?: Signs;
}

/** Late chunks stop waiting for further ones, unless their device still sends. */
export interface LateTimeoutCommand {
  type: "LateTimeout";
  signs?: Signs;
}

export interface RecognitionOpenedCommand {
  type: "RecognitionOpened";
  engine: string;
  diarisationModelVersion: string;
  detectedLanguage: string;
  /** True when the engine is not local. */
  soundLeaves?: boolean | undefined;
}

/** A finished utterance of the running attempt; some carry a checkpoint to resume from after it. */
export interface UtteranceCommand {
  type: "Utterance";
  attempt: number;
  segments: RecognisedSegment[];
  end: number;
  checkpoint?: TranscriptionCheckpoint | undefined;
  revised: SpeakerProposal;
  /** Everything before this position is final. */
  finalisedTo: number;
}

/** The worker's state from which a reading continues at `position`. */
export interface TranscriptionCheckpoint {
  position: number;
  recogniser: Uint8Array;
  speakers: Uint8Array;
  /** The clusters that `speakers` knows; absent from workers that do not send them. */
  clusters?: { ids: number[] } | undefined;
}

export interface RecognisedSegment {
  start: number;
  end: number;
  words: Word[];
  confidence: number;
  cluster: number;
  /** How likely the voice is the cluster's, 0..1; absent when the worker does not tell. */
  speakerConfidence?: number | undefined;
  /** Speech of other clusters within it; absent where there is none. */
  overlaps?: { start: number; end: number; cluster: number }[] | undefined;
  /** Where channels are speakers: the one that it was heard on, which is its cluster as well. */
  channel?: number | undefined;
}

export interface SpeakerProposal {
  segments: { start: number; cluster: number }[];
  merges: { from: number; into: number }[];
}

export interface ProgressCommand {
  type: "Progress";
  attempt: number;
  finalisedTo: number;
}

export interface ChunkFailedCommand {
  type: "ChunkFailed";
  sequence: number;
  code: string;
  message: string;
}

/** No engine of the installation reads the session's language. */
export interface LanguageUnsupportedCommand {
  type: "LanguageUnsupported";
  attempt: number;
  message: string;
}

/** A reading broke; `suspects` lists all chunks of the attempt at which readings broke so far. */
export interface SuspectedCommand {
  type: "Suspected";
  attempt: number;
  suspects: Suspect[];
}

/** All audio was read and the final speaker pass is through. */
export interface RecognitionDoneCommand {
  type: "RecognitionDone";
  attempt: number;
  speakers: SpeakerProposal;
}

/** A second reading of [from, to) is complete, with the late audio of `sequences`. */
export interface RetranscriptionCommand {
  type: "Reread";
  /**
   * The attempt of the redo that it belongs to; any other reading gets its number when it is
   * decided.
   */
  attempt?: number;
  /** True when the whole session was read again. */
  whole: boolean;
  from: number;
  to: number;
  sequences: number[];
  segments: RecognisedSegment[];
  /**
   * Its first segments, which agree with the transcript; they show which voices its clusters are.
   */
  agreed?: RecognisedSegment[];
  /** Spans that it could not read; the existing text stays there. */
  unread?: Span[];
  /** The labels of the clusters in the checkpoint from which it was read, if they are known. */
  voices?: Voices | undefined;
  /** Checkpoints from which later readings of the audio that is still missing may begin. */
  checkpoints?: TranscriptionCheckpoint[];
}

/** How far the redo has read, 0..1. */
export interface RedoProgressCommand {
  type: "RedoProgress";
  attempt: number;
  progress: number;
}
