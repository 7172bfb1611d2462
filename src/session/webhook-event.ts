import type { SessionEvent } from "./event.ts";

/** The event types that a webhook can receive; a closed list. */
export const WEBHOOK_EVENT_TYPES = [
  "session.started",
  "session.stopped",
  "session.completed",
  "session.failed",
  "session.deleted",
  "chunk.failed",
  "transcript.segment_revised",
  "transcript.replaced",
  "speaker.claimed",
  "summary.completed",
  "summary.ready",
  "concern.raised",
  "redaction.applied",
] as const;

export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number];

/** All message types: the event types, and the test message that an owner can request. */
export const WEBHOOK_MESSAGE_TYPES = [...WEBHOOK_EVENT_TYPES, "webhook.test"] as const;

export type WebhookMessageType = (typeof WEBHOOK_MESSAGE_TYPES)[number];

/**
 * Reasons for which a delivery attempt failed; a closed list. The endpoint's response is never
 * stored.
 */
export const WEBHOOK_ERRORS = [
  "timeout",
  "dns_failed",
  "address_refused",
  "connection_refused",
  "connection_failed",
  "tls_failed",
  "redirect",
  "http_error",
  "gone",
  "disabled",
  "expired",
  "internal",
] as const;

export type WebhookError = (typeof WEBHOOK_ERRORS)[number];

/** The content of a message: ids, numbers, labels and states; never words. */
export type WebhookData = Readonly<Record<string, string | number>>;

interface NotifiedEvent {
  type: WebhookEventType;
  data: WebhookData;
}

/** The webhook events of a journal event; most have none. */
export function toWebhookEvents(event: SessionEvent): NotifiedEvent[] {
  const own = ownWebhookEvent(event);
  if (own === undefined) return [];
  if (event.type !== "SummaryUpdated" || event.completesNotes !== true) return [own];
  return [own, { type: "summary.ready", data: { job_id: event.jobId, status: "completed" } }];
}

function ownWebhookEvent(event: SessionEvent): NotifiedEvent | undefined {
  switch (event.type) {
    case "SessionStarted":
      return { type: "session.started", data: { status: "recording", job_id: event.jobId } };
    case "SessionStopped":
      return {
        type: "session.stopped",
        data: { status: "processing", ...(event.reason && { reason: event.reason }) },
      };
    case "SessionCompleted":
      return { type: "session.completed", data: { status: "completed" } };
    case "SessionFailed":
      return {
        type: "session.failed",
        data: { status: "failed", ...(event.reason && { reason: event.reason }) },
      };
    case "ChunkFailed":
      return {
        type: "chunk.failed",
        data: {
          chunk_id: event.chunkId,
          chunk_sequence: event.sequence,
          code: event.code,
          status: "failed",
        },
      };
    case "SegmentRevised":
      return {
        type: "transcript.segment_revised",
        data: { segment_id: event.segmentId, revision: event.revision },
      };
    case "TranscriptReplaced":
      return {
        type: "transcript.replaced",
        data: {
          job_id: event.jobId,
          start_ms: Math.round(event.from / 16),
          end_ms: Math.round(event.to / 16),
          edits_replaced: event.editsReplaced ?? 0,
        },
      };
    case "SpeakerClaimed":
      return {
        type: "speaker.claimed",
        data: {
          speaker_label: event.label,
          source: event.source,
          claimed_user_id: event.claimedUserId,
        },
      };
    case "SummaryUpdated":
      return {
        type: "summary.completed",
        data: { job_id: event.jobId, summary_type: event.summaryType, status: "completed" },
      };
    case "ConcernRaised":
      return { type: "concern.raised", data: { concern_id: event.concernId, status: "open" } };
    case "SpanRedacted":
      return { type: "redaction.applied", data: { redaction_id: event.redactionId } };
    // The deletion sends the webhook event of this one itself, without the actor.
    case "SessionDeleted":
    case "ChunkReceived":
    case "ChunkPlaced":
    case "ChunkTranscribed":
    case "GapDeclared":
    case "GapFilled":
    case "LateAudioDue":
    case "ChunkMeasured":
    case "SegmentFinalised":
    case "SpeakersRevised":
    case "SpeakersUnmerged":
    case "SegmentsReassigned":
    case "SpeakerUnclaimed":
    case "SpeakerNamed":
    case "AnnotationChanged":
    case "GuestJoined":
    case "JobStarted":
    case "JobCompleted":
    case "JobFailed":
    case "RedoRequested":
    case "RedoCancelled":
    case "RedoProposed":
    case "RedoReviewed":
      return undefined;
    default:
      event satisfies never;
      return undefined;
  }
}
