import { describe, expect, it } from "vitest";
import type { SessionEvent } from "../../../src/session/event.ts";
import { toWebhookEvents } from "../../../src/session/webhook-event.ts";

const EVENTS: SessionEvent[] = [
  { type: "SessionStarted", sessionId: "s", jobId: "j", language: "en" },
  { type: "SessionStopped", lastSequence: 3 },
  { type: "SessionCompleted" },
  { type: "ChunkFailed", chunkId: "c", sequence: 2, code: "not_audio", message: "broken" },
  {
    type: "SegmentRevised",
    segmentId: "g",
    start: 0,
    revision: 2,
    label: "S1",
    editId: "e",
    byUserId: "u",
  },
  {
    type: "TranscriptReplaced",
    ...{ jobId: "j", attempt: 2, from: 8_000, to: 24_000, removed: [], added: [], sequences: [1] },
    editsReplaced: 2,
  },
  { type: "SpeakerClaimed", label: "S1", source: "self_claim", claimedUserId: "u", byUserId: "u" },
  { type: "SummaryUpdated", jobId: "j", summaryType: "brief" },
  { type: "SummaryUpdated", jobId: "k", summaryType: "topics", completesNotes: true },
  { type: "ConcernRaised", concernId: "c" },
  { type: "SpanRedacted", redactionId: "r", from: 0, to: 1, segmentIds: ["g"], byUserId: "u" },
];

describe("webhook events", () => {
  it("each journal entry that webhooks know has its type, ids and state", () => {
    expect(EVENTS.flatMap(toWebhookEvents)).toEqual([
      { type: "session.started", data: { status: "recording", job_id: "j" } },
      { type: "session.stopped", data: { status: "processing" } },
      { type: "session.completed", data: { status: "completed" } },
      {
        type: "chunk.failed",
        data: { chunk_id: "c", chunk_sequence: 2, code: "not_audio", status: "failed" },
      },
      { type: "transcript.segment_revised", data: { segment_id: "g", revision: 2 } },
      {
        type: "transcript.replaced",
        data: { job_id: "j", start_ms: 500, end_ms: 1_500, edits_replaced: 2 },
      },
      {
        type: "speaker.claimed",
        data: { speaker_label: "S1", source: "self_claim", claimed_user_id: "u" },
      },
      {
        type: "summary.completed",
        data: { job_id: "j", summary_type: "brief", status: "completed" },
      },
      {
        type: "summary.completed",
        data: { job_id: "k", summary_type: "topics", status: "completed" },
      },
      { type: "summary.ready", data: { job_id: "k", status: "completed" } },
      { type: "concern.raised", data: { concern_id: "c", status: "open" } },
      { type: "redaction.applied", data: { redaction_id: "r" } },
    ]);
  });

  it("what happens all the time is nothing to webhooks", () => {
    const chunk = { chunkId: "c", sequence: 0 };
    expect(toWebhookEvents({ type: "ChunkTranscribed", ...chunk })).toEqual([]);
    expect(toWebhookEvents({ type: "GuestJoined", guestId: "g" })).toEqual([]);
    const mark = { annotationType: "mark", annotationId: "m" } as const;
    expect(toWebhookEvents({ type: "AnnotationChanged", ...mark })).toEqual([]);
    const placed = { type: "ChunkPlaced" as const, ...chunk, start: 0, length: 1 };
    expect(toWebhookEvents(placed)).toEqual([]);
  });
});
