import type { ClaimSource } from "./status.ts";
import type { Word } from "./write.ts";

/** What may be asked of a session. The first group comes from outside, the rest from its own effects. */
export type SessionCommand =
  | StartCommand
  | ChunkStoredCommand
  | StopCommand
  | ClaimCommand
  | UnclaimCommand
  | GapTimeoutCommand
  | RecognitionOpenedCommand
  | UtteranceCommand
  | ProgressCommand
  | ChunkFailedCommand
  | RecognitionDoneCommand
  | RereadCommand;

export interface StartCommand {
  type: "Start";
  jobId: string;
  language: string;
}

export interface ChunkStoredCommand {
  type: "ChunkStored";
  chunkId: string;
  sequence: number;
  /** Frames in its container, at its own rate. */
  frames: number;
  sampleRate: number;
}

export interface StopCommand {
  type: "Stop";
  /** Highest sequence that belongs to the session, -1 when there is none. */
  lastSequence: number;
}

/** Answered with `{label, source, claimedUserId}`. */
export interface ClaimCommand {
  type: "Claim";
  label: string;
  source: ClaimSource;
  claimedUserId: string;
  byUserId: string;
  /** The caller owns the session. */
  byOwner: boolean;
}

export interface UnclaimCommand {
  type: "Unclaim";
  label: string;
  byUserId: string;
  byOwner: boolean;
}

/** The wait for sequence `sequence` is over. */
export interface GapTimeoutCommand {
  type: "GapTimeout";
  sequence: number;
}

export interface RecognitionOpenedCommand {
  type: "RecognitionOpened";
  engine: string;
  diarisationModelVersion: string;
  detectedLanguage: string;
}

/** A finished utterance of the running attempt, with the state to resume after it. */
export interface UtteranceCommand {
  type: "Utterance";
  attempt: number;
  segments: RecognisedSegment[];
  checkpoint: { position: number; recogniser: Uint8Array; speakers: Uint8Array };
  revised: SpeakerProposal;
  /** Everything before it is final. */
  finalisedTo: number;
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

/** All audio was read and the final speaker pass is through. */
export interface RecognitionDoneCommand {
  type: "RecognitionDone";
  attempt: number;
  speakers: SpeakerProposal;
}

/** A second reading of [from, to) is complete, with the late audio of `sequences`. */
export interface RereadCommand {
  type: "Reread";
  attempt: number;
  from: number;
  to: number;
  sequences: number[];
  segments: RecognisedSegment[];
}
