export type SessionPhase = "recording" | "processing" | "completed" | "failed" | "deleted";
export type ChunkStatus = "pending" | "processing" | "completed" | "failed";
export type JobStatus = "queued" | "running" | "completed" | "failed" | "cancelled";

/** Why a session stopped that nobody stopped. */
export const STOP_REASONS = ["device_silent", "not_audio"] as const;
export type StopReason = (typeof STOP_REASONS)[number];

export const CLAIM_SOURCES = ["self_claim", "moderator_assignment"] as const;
export type ClaimSource = (typeof CLAIM_SOURCES)[number];

export const SUMMARY_TYPES = [
  "brief",
  "detailed",
  "action_items",
  "decisions",
  "topics",
  "speakers",
] as const;

export type SummaryType = (typeof SUMMARY_TYPES)[number];

/** All that was recorded was read, or could not be; late audio and another reading may follow. */
export function isOver(phase: SessionPhase | "new"): boolean {
  return phase === "completed" || phase === "failed";
}

/** How often audio is tried at which readings break, until it counts as unreadable. */
export const MAX_TRIES = 3;

/** What a chunk that no reading survives is failed with. */
export const AUDIO_UNREADABLE = "audio_unreadable";

/** A chunk that was in work when a reading broke. */
export interface Suspect {
  sequence: number;
  /** How often in a row, without getting further. */
  breaks: number;
  /** How far the reading had come, in samples at 16 kHz. */
  position: number;
}
