import type {
  Annotation,
  ClaimSource,
  FailureReason,
  ReviewOutcome,
  StopReason,
} from "./status.ts";

/**
 * The events of a session. They carry ids, times and labels only; words live in the segments table,
 * so that a deletion concerns one place and a replay still has every seq. Positions are samples at
 * 16 kHz.
 */
export type SessionEvent =
  | SessionStarted
  | ChunkReceived
  | ChunkMeasured
  | ChunkPlaced
  | ChunkTranscribed
  | ChunkFailed
  | GapDeclared
  | GapFilled
  | LateAudioDue
  | SegmentFinalised
  | SpeakersRevised
  | SpeakersUnmerged
  | SegmentsReassigned
  | SpeakerClaimed
  | SpeakerUnclaimed
  | SpeakerNamed
  | SessionStopped
  | SessionCompleted
  | SessionFailed
  | JobStarted
  | JobCompleted
  | JobFailed
  | TranscriptReplaced
  | RedoRequested
  | RedoCancelled
  | RedoProposed
  | RedoReviewed
  | SegmentRevised
  | SpanRedacted
  | SummaryUpdated
  | ConcernRaised
  | AnnotationChanged
  | GuestJoined
  | SessionDeleted;

interface SessionStarted {
  type: "SessionStarted";
  sessionId: string;
  jobId: string;
  language: string;
}

/** A stored chunk is known to the session: its status is `pending`. */
export interface ChunkReceived {
  type: "ChunkReceived";
  chunkId: string;
  sequence: number;
  /** Frames in its container, at its own rate. */
  frames: number;
  sampleRate: number;
  /** Why the chunk will fail as soon as it has its place. */
  unreadable?: string;
  /** Its length is not known yet: it is a later part of a stream. */
  unmeasured?: true;
}

/** The length of a chunk that was received without one. */
export interface ChunkMeasured {
  type: "ChunkMeasured";
  chunkId: string;
  sequence: number;
  frames: number;
  sampleRate: number;
  /** Why the chunk will fail as soon as it has its place. */
  unreadable?: string;
  /** It came whole, and its stored file is damaged since. */
  damaged?: true;
}

/** The chunk has its place on the timeline: its status is `processing`. */
export interface ChunkPlaced {
  type: "ChunkPlaced";
  chunkId: string;
  sequence: number;
  start: number;
  length: number;
}

interface ChunkTranscribed {
  type: "ChunkTranscribed";
  chunkId: string;
  sequence: number;
}

interface ChunkFailed {
  type: "ChunkFailed";
  chunkId: string;
  sequence: number;
  code: string;
  message: string;
}

/** The wait for this sequence is over: a gap of the usual length stands in its place. */
export interface GapDeclared {
  type: "GapDeclared";
  sequence: number;
  start: number;
  length: number;
  /** End of the newest segment's utterance when the gap was declared. */
  pin: number;
  /** Clusters below this number had a label at that checkpoint. */
  knownClusters: number;
  /** The gap lies at the end: its length is 0 until its audio comes, and then that of the audio. */
  tail?: true;
}

/**
 * The missing chunk came after all; its span will be read again. `length` is its length on the
 * timeline, at most the gap's: the chunk may hold more.
 */
export interface GapFilled {
  type: "GapFilled";
  chunkId: string;
  sequence: number;
  start: number;
  length: number;
  /** The chunk waits for others until LateAudioDue; without this it is read at once. */
  collected?: true;
  /** It was not missing: it had failed, as its stored file was damaged, which is whole again. */
  mended?: true;
}

/** These late chunks no longer wait for others: their spans are read again now. */
interface LateAudioDue {
  type: "LateAudioDue";
  sequences: number[];
}

export interface SegmentFinalised {
  type: "SegmentFinalised";
  segmentId: string;
  start: number;
  end: number;
  label: string;
  cluster: number;
  /**
   * Where channels are speakers: the one that it was heard on, from 0. Absent in events of earlier
   * releases.
   */
  channel?: number;
  /**
   * How likely the voice is the label's, 0..1; absent when nobody knows, and in events of earlier
   * releases.
   */
  speakerConfidence?: number | undefined;
  /** End of its utterance. */
  checkpoint: number;
  /**
   * Position of the newest stored checkpoint; absent in events of releases that stored one with
   * each segment.
   */
  resume?: number;
}

/**
 * How likely a voice was its label's is not known any more for the segments named here, and for
 * those of both labels of a merge: it was measured against the label that is gone.
 */
export interface SpeakersRevised {
  type: "SpeakersRevised";
  revisions: { segmentId: string; start: number; label: string; cluster: number }[];
  /** Labels found to be the same voice; the older (`into`) survives. */
  merges: { from: string; into: string }[];
  finalPass: boolean;
  /**
   * Who said that the merged labels are one voice: such a merge can be taken back. Absent when the
   * recognition found it, and in events of earlier releases.
   */
  byUserId?: string;
}

/**
 * A person took a merge back: `label` is a voice of its own again, with these segments. The claim and
 * the free name that it gets back follow as events of their own.
 */
export interface SpeakersUnmerged {
  type: "SpeakersUnmerged";
  label: string;
  /** The label of which it had become a part. */
  into: string;
  segments: { segmentId: string; start: number }[];
  /** Segments of a waiting redo's result that are its own too; absent without any. */
  candidateIds?: string[];
  /** Whose claim on `into` was that on `label` before the merge, and is so again. */
  claimedUserId?: string;
  byUserId: string;
}

/** A person gave segments of the speaker `from` to another one, who may be new. */
export interface SegmentsReassigned {
  type: "SegmentsReassigned";
  from: string;
  label: string;
  segments: { segmentId: string; start: number }[];
  byUserId: string;
}

export interface SpeakerClaimed {
  type: "SpeakerClaimed";
  label: string;
  source: ClaimSource;
  claimedUserId: string;
  byUserId: string;
}

export interface SpeakerUnclaimed {
  type: "SpeakerUnclaimed";
  label: string;
  byUserId: string;
}

/** A person named a label; the name itself is in `speaker_names`, where it can be erased. */
export interface SpeakerNamed {
  type: "SpeakerNamed";
  label: string;
  /** Row of `speaker_names` that holds the name; absent when the name was taken away. */
  nameId?: string;
  byUserId: string;
}

export interface SessionStopped {
  type: "SessionStopped";
  /** Highest sequence that belongs to the session; -1 when there is none. */
  lastSequence: number;
  /** Absent when a person stopped it. */
  reason?: StopReason;
}

export interface SessionCompleted {
  type: "SessionCompleted";
}

/** The session ended without any audio that could be read. */
export interface SessionFailed {
  type: "SessionFailed";
  message: string;
  /** Absent in events of earlier releases. */
  reason?: FailureReason;
}

export interface JobStarted {
  type: "JobStarted";
  jobId: string;
  attempt: number;
  engine: string;
  diarisationModelVersion: string;
  detectedLanguage: string;
  /** Present when the engine is not local: sound leaves the installation. */
  soundLeaves?: true;
}

export interface JobCompleted {
  type: "JobCompleted";
  jobId: string;
  attempt: number;
  segmentCount: number;
  speakerCount: number;
  durationMs: number;
}

export interface JobFailed {
  type: "JobFailed";
  jobId: string;
  attempt: number;
  message: string;
}

/** Segments that start in [from, to) were replaced by a second reading. */
export interface TranscriptReplaced {
  type: "TranscriptReplaced";
  jobId: string;
  attempt: number;
  from: number;
  to: number;
  removed: { segmentId: string; start: number }[];
  added: {
    segmentId: string;
    start: number;
    end: number;
    label: string;
    cluster: number;
    redacted?: true;
  }[];
  /** Sequences whose late audio this reading included. */
  sequences: number[];
  /** How many segments among `removed` a person had edited; only a redo removes such. */
  editsReplaced?: number;
}

/** The whole session will be read again; the existing text stays until the new one replaces it. */
export interface RedoRequested {
  type: "RedoRequested";
  jobId: string;
  attempt: number;
  byUserId: string;
  /** Its result will wait for a person's choice. */
  review?: true;
}

/**
 * The result of a redo waits: its words are in the table of candidates. Labels behind the newest
 * known one stand for voices that the transcript does not have.
 */
export interface RedoProposed {
  type: "RedoProposed";
  jobId: string;
  attempt: number;
  segments: {
    segmentId: string;
    start: number;
    end: number;
    label: string;
    cluster: number;
    redacted?: true;
  }[];
  /** Segments of the existing text that stay, because it could not read what is there. */
  kept: string[];
}

/** What became of the waiting result of a redo. */
export interface RedoReviewed {
  type: "RedoReviewed";
  jobId: string;
  attempt: number;
  outcome: ReviewOutcome;
  /** Absent when nobody chose. */
  byUserId?: string;
}

/** The redo was cancelled; the existing text stays. */
export interface RedoCancelled {
  type: "RedoCancelled";
  jobId: string;
  attempt: number;
  byUserId: string;
}

/** A person changed a segment's text (the words are in the segments table), or its speaker. */
export interface SegmentRevised {
  type: "SegmentRevised";
  segmentId: string;
  start: number;
  revision: number;
  label: string;
  /** Row of `segment_edits` that holds the new text; absent when only the speaker changed. */
  editId?: string;
  /** The person chose another speaker. Absent in events of earlier releases. */
  chosen?: true;
  byUserId: string;
}

/** Words in [from, to), of all speakers or of one, were redacted for good. */
export interface SpanRedacted {
  type: "SpanRedacted";
  redactionId: string;
  from: number;
  to: number;
  label?: string;
  segmentIds: string[];
  /** Segments of a waiting redo's result that it concerns too; absent without any. */
  candidateIds?: string[];
  byUserId: string;
}

interface SummaryUpdated {
  type: "SummaryUpdated";
  jobId: string;
  summaryType: string;
  /** With it all notes of an ended session are there. */
  completesNotes?: true;
}

interface ConcernRaised {
  type: "ConcernRaised";
  concernId: string;
}

/** Somebody marked a moment, changed or deleted a mark, or changed an action item. */
type AnnotationChanged = Annotation & { type: "AnnotationChanged" };

/** Somebody came in as a guest; the name that they gave lies with the guests. */
interface GuestJoined {
  type: "GuestJoined";
  guestId: string;
}

/** The deletion writes this directly, without the actor; no event follows it. */
export interface SessionDeleted {
  type: "SessionDeleted";
  kind: string;
}
