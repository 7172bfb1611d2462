export type SessionPhase = "recording" | "processing" | "completed" | "failed" | "deleted";
export type ChunkStatus = "pending" | "processing" | "completed" | "failed";
export type JobStatus = "queued" | "running" | "completed" | "failed" | "cancelled";
/** Why a session stopped that nobody stopped. */
export type StopReason = "device_silent" | "not_audio";
export type ClaimSource = "self_claim" | "moderator_assignment";

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
