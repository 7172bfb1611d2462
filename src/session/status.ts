export type SessionPhase = "recording" | "processing" | "completed" | "failed" | "deleted";
export type ChunkStatus = "pending" | "processing" | "completed" | "failed";
export type JobStatus = "queued" | "running" | "completed" | "failed" | "cancelled";
export type ClaimSource = "self_claim" | "moderator_assignment";
