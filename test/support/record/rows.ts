import type { SessionPhase } from "../../../src/session/status.ts";

/** Rows as the tables of the same names hold them: names of columns, null, JSON as text. */
export interface SessionRow {
  id: string;
  workspace_id: string;
  owner_id: string;
  device_id: string | null;
  job_id: string;
  title: string;
  language: string;
  vocabulary: string;
  status: SessionPhase;
  epoch: number;
  seq: number;
  has_work: boolean;
  work_seq: number;
  last_chunk_sequence: number | null;
  started_at: number;
  stopped_at: number | null;
  completed_at: number | null;
  updated_at: number;
  stop_reason: string | null;
  failure_reason: string | null;
}

export interface ChunkRow {
  session_id: string;
  sequence: number;
  id: string;
  media_type: string;
  filename: string;
  bytes: number;
  sha256: string;
  frames: number;
  sample_rate: number;
  duration_seconds: number;
  status: "pending" | "processing" | "completed" | "failed";
  error: string;
  start_sample: number | null;
  length_samples: number | null;
  uploaded_at: number;
  recorded_at: number | null;
  broken_spans: string;
  /** How often something redacted came to lie over it, and how often it was silenced then. */
  silence_wanted: number;
  silence_done: number;
}

export interface EventRow {
  session_id: string;
  seq: number;
  epoch: number;
  at: number;
  type: string;
  payload: string;
}

export interface SnapshotRow {
  session_id: string;
  seq: number;
  version: number;
  state: string;
  at: number;
}

export interface CheckpointRow {
  session_id: string;
  attempt: number;
  position: number;
  recogniser: Buffer;
  speakers: Buffer;
  voices: string | null;
  at: number;
}

export interface SuspectRow {
  session_id: string;
  attempt: number;
  sequence: number;
  breaks: number;
  position: number;
}

export interface SegmentRow {
  session_id: string;
  id: string;
  attempt: number;
  start_sample: number;
  end_sample: number;
  label: string;
  text: string;
  words: string;
  confidence: number;
  speaker_confidence: number | null;
  overlapping: string | null;
  revision: number;
  redacted: boolean;
  language: string;
}

export interface SegmentEditRow {
  id: string;
  session_id: string;
  segment_id: string;
  text: string;
  words: string;
  by_user_id: string;
}

export interface ClaimRow {
  id: number;
  session_id: string;
  label: string;
  source: "self_claim" | "moderator_assignment";
  claimed_user_id: string;
  by_user_id: string;
  revoked_at: number | null;
}

export interface JobRow {
  id: string;
  kind: "transcription" | "summarisation";
  session_id: string | null;
  workspace_id: string;
  status: "queued" | "running" | "completed" | "failed" | "cancelled";
  progress: number;
  error: string;
  attempt: number;
  engine: string | null;
  detected_language: string | null;
  forced_language: string | null;
  diarisation_model_version: string | null;
  segment_count: number;
  speaker_count: number | null;
  duration_ms: number | null;
  avg_confidence: number | null;
  created_at: number;
  started_at: number | null;
  completed_at: number | null;
}

export interface OutboxTableRow {
  id: string;
  session_id: string;
  command: string;
  created_at: number;
  attempts: number;
  not_before: number;
  parked_at: number | null;
  parked_reason: string | null;
}

export interface OutcomeRow {
  session_id: string;
  command_id: string;
  at: number;
  outcome: string;
}

export interface StreamRow {
  session_id: string;
  epoch: number;
  settings: string;
  offset_bytes: number;
  sequence: number | null;
  pieces: number;
  touched_at: number;
}

export interface PieceRow {
  session_id: string;
  sequence: number;
  piece: number;
  media_type: string;
  frames: number;
  sample_rate: number;
  /** Null where a log has the bytes. */
  data: Buffer | null;
  created_at: number;
  /** Of a chunk's first piece. */
  log: string | null;
  pieces: number | null;
}

export interface RedactionRow {
  id: string;
  session_id: string;
  start_sample: number;
  end_sample: number;
  label: string | null;
  created_at: number;
}

export interface ReceiptRow {
  id: string;
  session_id: string;
  workspace_id: string;
  kind: string;
  deleted_at: number;
  removed: string;
  audio_erased_at: number | null;
}

export interface AuditRow {
  id: string;
  kind: string;
  actor_kind: string;
  actor_id: string | null;
  workspace_id: string | null;
  session_id: string | null;
  subject_id: string | null;
  detail: string;
}

export interface WebhookRow {
  id: string;
  workspace_id: string;
  event_types: string;
  enabled: boolean;
}

export interface DeliveryRow {
  webhook_id: string;
  id: string;
  event_type: string;
  data: string;
  occurred_at: number;
  status: "pending" | "succeeded" | "failed";
}

export interface DeviceRow {
  id: string;
  workspace_id: string;
  owner_id: string;
  last_seen_at: number | null;
  telemetry: string;
  firmware: string;
}

export interface UserRow {
  id: string;
  name: string;
  email: string;
}

export interface PositionRow {
  session_id: string;
  read_to: number;
}
