import { describe, expect, it } from "vitest";
import { encodeEvent } from "../../../src/grpc/messages.ts";
import { TranscriptEvent } from "../../../src/wire/gen/voice/v1/sessions.ts";
import type { ServerFrame } from "../../../src/wire/live-frames.ts";

const session_id = "s";
const durable = { session_id, seq: 7, at: "2026-01-31T09:30:00.250Z" };
const results = {
  type: "Results",
  session_id,
  segment_id: "g",
  revision: 3,
  start: 1.2344,
  duration: 0.5,
  transcript: "good morning",
  confidence: 0.5,
  speaker: "S2",
  speaker_confidence: 0.75,
  words: [
    {
      ...{ word: "good", start: 1.2344, end: 1.4, confidence: 0.25, speaker: "S2" },
      ...{ unclear: true, times_clamped: true },
    },
  ],
} as const;
const segment = {
  id: "g",
  revision: 3,
  startMs: 1_234,
  endMs: 1_734,
  speakerLabel: "S2",
  text: "good morning",
  confidence: 0.5,
  speakerConfidence: 0.75,
  unclearWords: [],
};
const times = { startMs: 1_234, endMs: 1_400, timesClamped: true };
const words = [{ text: "good", ...times, confidence: 0.25, unclear: true }];
const span = { start: 1, end: 2.5 };
const told = { speaker: "S2", segment_id: "h", start: 1.25, end: 1.5 };
const spoken = { speakerLabel: "S2", segmentId: "h", startMs: 1_250, endMs: 1_500 };

const DURABLE: [ServerFrame, TranscriptEvent["event"]][] = [
  [
    {
      ...{ ...results, ...durable, is_final: true, words: [...results.words] },
      ...{ overlaps: [told], channel: 1 },
    },
    { $case: "finalSegment", value: { ...segment, words, overlaps: [spoken], channel: 1 } },
  ],
  [
    {
      type: "SpeakerRevision",
      ...durable,
      revisions: [{ segment_id: "g", speaker: "S1" }],
      merges: [{ from: "S2", into: "S1" }],
    },
    {
      $case: "speakerRevision",
      value: {
        revisions: [{ segmentId: "g", speakerLabel: "S1" }],
        merges: [{ from: "S2", into: "S1" }],
      },
    },
  ],
  [
    {
      type: "SpeakerClaimed",
      ...durable,
      speaker_label: "S1",
      display_name: "Anna",
      revoked: true,
    },
    {
      $case: "speakerClaimed",
      value: { speaker: { speakerLabel: "S1", displayName: "Anna" }, revoked: true },
    },
  ],
  [
    { type: "SpeakerNamed", ...durable, speaker_label: "S1", free_name: "The chair" },
    { $case: "speakerNamed", value: { speakerLabel: "S1", freeName: "The chair" } },
  ],
  [
    {
      type: "SegmentRevised",
      ...durable,
      segment_id: "g",
      revision: 2,
      transcript: "t",
      speaker: "S1",
    },
    {
      $case: "segmentRevised",
      value: { segmentId: "g", revision: 2, text: "t", speakerLabel: "S1" },
    },
  ],
  [
    {
      type: "TranscriptReplaced",
      ...durable,
      job_id: "j",
      span,
      removed_segment_ids: ["a"],
      segment_ids: ["b", "c"],
      edits_replaced: 3,
    },
    {
      $case: "transcriptReplaced",
      value: {
        jobId: "j",
        startMs: 1_000,
        endMs: 2_500,
        removedSegmentIds: ["a"],
        segmentIds: ["b", "c"],
        editsReplaced: 3,
      },
    },
  ],
  [
    {
      type: "ChunkStatus",
      ...durable,
      chunk_sequence: 4,
      transcription_status: "failed",
      missing: true,
      start: 10.5,
      message: "no audio",
    },
    {
      $case: "chunkStatus",
      value: {
        chunkSequence: 4,
        transcriptionStatus: "failed",
        missing: true,
        startMs: 10_500,
        message: "no audio",
      },
    },
  ],
  [
    { type: "SessionStatus", ...durable, status: "processing" },
    { $case: "sessionStatus", value: { status: "processing" } },
  ],
  [
    { type: "JobStatus", ...durable, job_id: "j", status: "failed", progress: 0.5, error: "e" },
    { $case: "jobStatus", value: { jobId: "j", status: "failed", progress: 0.5, error: "e" } },
  ],
  [
    { type: "SummaryUpdated", ...durable, job_id: "j", summary_type: "brief" },
    { $case: "summaryUpdated", value: { jobId: "j", summaryType: "brief" } },
  ],
  [
    { type: "Redacted", ...durable, redaction_id: "r", span, speaker: "S1", segment_ids: ["g"] },
    {
      $case: "redacted",
      value: {
        redactionId: "r",
        startMs: 1_000,
        endMs: 2_500,
        speakerLabel: "S1",
        segmentIds: ["g"],
      },
    },
  ],
  [
    { type: "ConcernRaised", ...durable, concern_id: "c" },
    { $case: "concernRaised", value: { concernId: "c" } },
  ],
  [
    {
      type: "AnnotationChanged",
      ...durable,
      ...{ annotation_type: "mark", annotation_id: "m", removed: true },
    },
    {
      $case: "annotationChanged",
      value: { annotationType: "mark", annotationId: "m", removed: true },
    },
  ],
  [
    { type: "GuestJoined", ...durable, guest_id: "g", display_name: "Gus" },
    { $case: "guestJoined", value: { guestId: "g", displayName: "Gus" } },
  ],
  [
    { type: "Stub", ...durable },
    { $case: "withheld", value: {} },
  ],
];

const figures = { audio_received: 1.5, audio_finalised: 1, lag_ms: 12.4, gaps: 2 };
const TRANSIENT: [ServerFrame, TranscriptEvent["event"]][] = [
  [
    { ...results, is_final: false, stable_words: 1, words: [...results.words] },
    { $case: "interimSegment", value: { ...segment, words, stableWords: 1, overlaps: [] } },
  ],
  [
    { type: "JobStatus", session_id, job_id: "j", status: "running", progress: 0.25 },
    { $case: "jobStatus", value: { jobId: "j", status: "running", progress: 0.25 } },
  ],
  [
    { type: "SpeechStarted", session_id, start: 3.0005 },
    { $case: "speechStartedMs", value: 3_001 },
  ],
  [
    { type: "UtteranceEnd", session_id, end: 4 },
    { $case: "utteranceEndedMs", value: 4_000 },
  ],
  [
    { type: "Heartbeat", session_id, seq: 9, ...figures },
    {
      $case: "heartbeat",
      value: { seq: 9, receivedMs: 1_500, finalisedMs: 1_000, lagMs: 12, gaps: 2 },
    },
  ],
];

describe("events as messages", () => {
  it.each(DURABLE)("durable: $type", (frame, event) => {
    const encoded = encodeEvent(frame);
    expect(encoded).toMatchObject({ seq: 7, transient: false });
    const atMs = Date.UTC(2026, 0, 31, 9, 30, 0, 250);
    expect(TranscriptEvent.decode(encoded.bytes)).toEqual({
      sessionId: "s",
      seq: 7,
      atMs,
      event,
    });
  });

  it.each(TRANSIENT)("of the moment: $type", (frame, event) => {
    const encoded = encodeEvent(frame);
    expect(encoded).toMatchObject({ seq: undefined, transient: true });
    expect(TranscriptEvent.decode(encoded.bytes)).toEqual({ sessionId: "s", event });
  });

  it("a notice is no transient: who asked for durable events only gets it too", () => {
    const about = { code: "position_unknown", message: "m", retryable: false } as const;
    const encoded = encodeEvent({ type: "Warning", session_id, ...about });
    expect(encoded).toMatchObject({ seq: undefined, transient: false });
    expect(TranscriptEvent.decode(encoded.bytes).event).toEqual({ $case: "notice", value: about });
  });

  it("an end is no transient: who asked for durable events only gets it too", () => {
    const end = { status: "completed", seq: 7 } as const;
    const encoded = encodeEvent({ type: "SessionEnded", session_id, ...end });
    expect(encoded).toMatchObject({ seq: undefined, transient: false });
    const event = { $case: "sessionEnded", value: end };
    expect(TranscriptEvent.decode(encoded.bytes)).toEqual({ sessionId: "s", event });
  });

  it("a snapshot carries session, speakers, segments and the interim in hand", () => {
    const {
      is_final: _final,
      words: _words,
      type: _type,
      session_id: _id,
      ...shown
    } = {
      ...results,
      is_final: true,
    };
    const encoded = encodeEvent({
      type: "Snapshot",
      session_id,
      seq: 12,
      session: {
        id: session_id,
        workspace_id: "w",
        title: "t",
        status: "recording",
        language: "en",
        started_at: "2026-01-31T09:30:00.000Z",
      },
      speakers: [{ speaker_label: "S2", claimed_user_id: "u", source: "self_claim" }],
      segments: [{ ...shown, unclear_words: [0] }],
      segments_cursor: "next",
      interim: { ...results, is_final: false, stable_words: 0, words: [...results.words] },
    });
    expect(encoded).toMatchObject({ seq: undefined, transient: false });
    expect(TranscriptEvent.decode(encoded.bytes).event).toEqual({
      $case: "snapshot",
      value: {
        seq: 12,
        title: "t",
        status: "recording",
        language: "en",
        startedAtMs: Date.UTC(2026, 0, 31, 9, 30),
        speakers: [{ speakerLabel: "S2", claimedUserId: "u", source: "self_claim" }],
        segments: [{ ...segment, words: [], unclearWords: [0], overlaps: [] }],
        nextPageToken: "next",
        interimSegment: { ...segment, words, stableWords: 0, overlaps: [] },
      },
    });
  });
});
