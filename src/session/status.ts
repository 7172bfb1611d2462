export type SessionPhase = "recording" | "processing" | "completed" | "failed" | "deleted";
export type ChunkStatus = "pending" | "processing" | "completed" | "failed";
export type JobStatus = "queued" | "running" | "completed" | "failed" | "cancelled";

/** Reasons for which the service stops a session itself. */
export const STOP_REASONS = ["device_silent", "not_audio"] as const;
export type StopReason = (typeof STOP_REASONS)[number];

/** Of a chunk at which every reading breaks, and of a session of which nothing could be read. */
export const AUDIO_UNREADABLE = "audio_unreadable";

/** Reasons for which a session ends without a text. */
export const FAILURE_REASONS = [AUDIO_UNREADABLE, "language_unsupported"] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

export const CLAIM_SOURCES = ["self_claim", "moderator_assignment"] as const;
export type ClaimSource = (typeof CLAIM_SOURCES)[number];

/** What people add to a session beside its words. */
export const ANNOTATION_TYPES = ["mark", "action_item"] as const;
type AnnotationType = (typeof ANNOTATION_TYPES)[number];

/** One that is new, another one now, or gone. */
export interface Annotation {
  annotationType: AnnotationType;
  annotationId: string;
  /** It was deleted. */
  removed?: true;
}

/** What may be decided about the waiting result of a redo; nobody chooses `expired`. */
export const REVIEW_CHOICES = ["accepted", "discarded", "expired"] as const;

/** What became of it; `outdated`: audio that came late changed the text. */
export type ReviewOutcome = (typeof REVIEW_CHOICES)[number] | "outdated";

/** The types of summaries that a session gets without being asked for. */
export const NOTE_TYPES = [
  "brief",
  "detailed",
  "action_items",
  "decisions",
  "topics",
  "open_questions",
] as const;

/** What a session's template wants in its workspace's own words; together they are one summary. */
export const CUSTOM_SECTIONS = "custom_sections";

export const SUMMARY_TYPES = [...NOTE_TYPES, CUSTOM_SECTIONS, "speakers"] as const;

export type SummaryType = (typeof SUMMARY_TYPES)[number];

/** The templates by which notes are arranged; each workspace may have its own version of one. */
export const NOTE_TEMPLATES = ["general", "interview", "standup", "sales_call", "lecture"] as const;

export type NoteTemplateId = (typeof NOTE_TEMPLATES)[number];

/**
 * True when all recorded audio was read or could not be; late audio and another reading may follow.
 */
export function isOver(phase: SessionPhase | "new"): boolean {
  return phase === "completed" || phase === "failed";
}

/** Audio counts as unreadable after this many readings broke at it. */
export const MAX_TRIES = 3;

/**
 * Code of a chunk whose stored file is gone, cannot be read, or holds other bytes than were stored: a
 * fault of the store, not of the device.
 */
export const AUDIO_DAMAGED = "audio_damaged";

/** A chunk that was being read when a reading broke. */
export interface Suspect {
  sequence: number;
  /** How many readings in a row broke at it without getting further. */
  breaks: number;
  /** How far the reading had come, in samples at 16 kHz. */
  position: number;
}
