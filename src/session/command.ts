import type { Signs } from "./device-signs.ts";
import type { Span } from "./segments.ts";
import type { ClaimSource, StopReason, Suspect } from "./status.ts";
import type { Voices, Word } from "./write.ts";

/** What may be asked of a session. The first group comes from outside, the rest from its own effects. */
export type SessionCommand =
  | StartCommand
  | ChunkStoredCommand
  | AudioOpenedCommand
  | StopCommand
  | WakeCommand
  | ClaimCommand
  | UnclaimCommand
  | GapTimeoutCommand
  | LateTimeoutCommand
  | RecognitionOpenedCommand
  | UtteranceCommand
  | ProgressCommand
  | ChunkFailedCommand
  | SuspectedCommand
  | RecognitionDoneCommand
  | RereadCommand
  | RedoCommand
  | CancelRedoCommand
  | RedoProgressCommand
  | EditSegmentCommand
  | MergeSpeakersCommand
  | RedactCommand
  | SummaryStoredCommand
  | ConcernStoredCommand;

interface StartCommand {
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
  /** Why it holds nothing that can be read, when that is known already. */
  unreadable?: string;
}

/** Audio is streamed that becomes chunk `sequence`: somebody must be there to read it. */
interface AudioOpenedCommand {
  type: "AudioOpened";
  sequence: number;
}

export interface StopCommand {
  type: "Stop";
  /** Highest sequence that belongs to the session, -1 when there is none. */
  lastSequence: number;
  /** Set when the service stops it by itself. */
  reason?: StopReason;
}

/**
 * Changes nothing. An actor that carries it out asks the record, and ends when that no longer has its
 * session.
 */
interface WakeCommand {
  type: "Wake";
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

/** Answered with `{attempt, edits}`: how many edited segments it will replace. Refused with `job_active` while the job runs, with `conflict` without any audio. */
export interface RedoCommand {
  type: "Redo";
  byUserId: string;
}

/** Ends a redo; the text that stands stays. Refused with `conflict` when there is none. */
export interface CancelRedoCommand {
  type: "CancelRedo";
  byUserId: string;
}

/** How far the redo has read, 0..1. */
export interface RedoProgressCommand {
  type: "RedoProgress";
  attempt: number;
  progress: number;
}

/**
 * Answered with `{segmentId, revision, label}`. The new text waits in
 * `segment_edits` under `editId` (empty: only the speaker changes).
 */
export interface EditSegmentCommand {
  type: "EditSegment";
  segmentId: string;
  editId: string;
  /** Empty: the speaker stays. */
  label: string;
  byUserId: string;
  /** When given, any other revision refuses it with `precondition_failed`. */
  expectedRevision?: number;
}

/** Two labels are the same voice; the older one survives. Answered with `{from, into}`. */
export interface MergeSpeakersCommand {
  type: "MergeSpeakers";
  from: string;
  into: string;
}

/** Answered with `{segmentIds}`. Positions in samples; an empty label means everybody. */
export interface RedactCommand {
  type: "Redact";
  redactionId: string;
  from: number;
  to: number;
  label: string;
  byUserId: string;
}

export interface SummaryStoredCommand {
  type: "SummaryStored";
  jobId: string;
  summaryType: string;
}

export interface ConcernStoredCommand {
  type: "ConcernStored";
  concernId: string;
}
