import type { Signs } from "./device-signs.ts";
import type { OutsideCommand } from "./outside-command.ts";
import type { Span } from "./segments.ts";
import type { Suspect } from "./status.ts";
import type { Voices, Word } from "./write.ts";

/** What may be asked of a session, from outside or by its own effects. */
export type SessionCommand = OutsideCommand | InsideCommand;

/** A command by the name of its type. */
export type CommandOf<T extends SessionCommand["type"]> = Extract<SessionCommand, { type: T }>;

type InsideCommand =
  | GapTimeoutCommand
  | LateTimeoutCommand
  | RecognitionOpenedCommand
  | UtteranceCommand
  | ProgressCommand
  | ChunkFailedCommand
  | SuspectedCommand
  | RecognitionDoneCommand
  | RereadCommand
  | RedoProgressCommand;

/** The wait for sequence `sequence` is over; after the stop, unless its device may still send it. */
export interface GapTimeoutCommand {
  type: "GapTimeout";
  sequence: number;
  /** Absent when there is no device to ask after: then nothing more is waited for. */
  signs?: Signs;
}

/** The wait of late chunks for one another is over, unless their device goes on sending. */
export interface LateTimeoutCommand {
  type: "LateTimeout";
  signs?: Signs;
}

export interface RecognitionOpenedCommand {
  type: "RecognitionOpened";
  engine: string;
  diarisationModelVersion: string;
  detectedLanguage: string;
}

/** A finished utterance of the running attempt, now and then with the state to resume after it. */
export interface UtteranceCommand {
  type: "Utterance";
  attempt: number;
  segments: RecognisedSegment[];
  end: number;
  checkpoint?: ReadingCheckpoint | undefined;
  revised: SpeakerProposal;
  /** Everything before it is final. */
  finalisedTo: number;
}

/** State from which a reading goes on at `position`. */
export interface ReadingCheckpoint {
  position: number;
  recogniser: Uint8Array;
  speakers: Uint8Array;
  /** Those that `speakers` knows; absent where the worker does not tell. */
  clusters?: { ids: number[] } | undefined;
}

export interface RecognisedSegment {
  start: number;
  end: number;
  words: Word[];
  confidence: number;
  cluster: number;
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

/** A reading broke: all chunks of the attempt at which readings broke so far. */
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
export interface RereadCommand {
  type: "Reread";
  /** Of the redo that it is for; any other reading gets its number when it is decided. */
  attempt?: number;
  /** True when the whole session was read again. */
  whole: boolean;
  from: number;
  to: number;
  sequences: number[];
  segments: RecognisedSegment[];
  /** What it said before that as it stands: it tells whose its voices are. */
  agreed?: RecognisedSegment[];
  /** What it could not read though it lies there: what stands there stays. */
  unread?: Span[];
  /** Whose voices the clusters of the checkpoint were from which it was read, if that is known. */
  voices?: Voices | undefined;
  /** Where later readings of what is still missing may begin. */
  checkpoints?: ReadingCheckpoint[];
}

/** How far the redo has read, 0..1. */
export interface RedoProgressCommand {
  type: "RedoProgress";
  attempt: number;
  progress: number;
}
