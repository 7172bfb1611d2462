import { toSeconds } from "../base/audio/sample-rate.ts";
import type { SessionEvent } from "../session/event.ts";
import type { SegmentWords, Word } from "../session/write.ts";
import type { Durable, DurableFrame, WordFrame } from "../wire/live-frames.ts";

export { toSeconds };

/** An event with its place in the session. */
export interface JournalRecord {
  seq: number;
  /** Unix milliseconds. */
  at: number;
  event: SessionEvent;
}

/** What frames say besides what events hold. */
interface FrameSources {
  /** By segment id; a segment that is not there was replaced or erased. */
  texts: ReadonlyMap<string, SegmentWords>;
  /** By user's or guest's id. */
  displayNames: ReadonlyMap<string, string>;
}

type Body<F> = F extends Durable ? Omit<F, keyof Durable> : never;
/** A durable frame without its envelope, member by member of the union. */
type FrameBody = Body<DurableFrame>;

function span(start: number, length: number): { start: number; duration: number } {
  const from = toSeconds(start);
  // From rounded ends, so that spans that touch in samples touch in seconds.
  return { start: from, duration: difference(from, toSeconds(start + length)) };
}

function difference(from: number, to: number): number {
  return Math.round((to - from) * 1_000) / 1_000;
}

function toWordFrame(word: Word, speaker: string): WordFrame {
  return {
    word: word.text,
    start: toSeconds(word.start),
    end: toSeconds(word.end),
    confidence: word.confidence,
    ...(word.unclear === true ? { unclear: true } : {}),
    ...(word.timesClamped === true ? { times_clamped: true } : {}),
    speaker,
  };
}

function renderSegment(
  event: Extract<SessionEvent, { type: "SegmentFinalised" }>,
  segment: SegmentWords | undefined,
): FrameBody {
  if (segment === undefined) return { type: "Stub" };
  return {
    type: "Results",
    segment_id: event.segmentId,
    revision: segment.revision,
    is_final: true,
    ...span(event.start, event.end - event.start),
    transcript: segment.text,
    confidence: segment.confidence,
    speaker: event.label,
    words: segment.words.map((word) => toWordFrame(word, event.label)),
  };
}

type ChunkEvent = Extract<
  SessionEvent,
  {
    type:
      | "ChunkReceived"
      | "ChunkPlaced"
      | "ChunkTranscribed"
      | "ChunkFailed"
      | "GapDeclared"
      | "GapFilled";
  }
>;

function renderChunk(event: ChunkEvent): FrameBody {
  const type = "ChunkStatus";
  const chunk_sequence = event.sequence;
  if (event.type === "GapDeclared") {
    const place = span(event.start, event.length);
    return { type, chunk_sequence, transcription_status: "pending", missing: true, ...place };
  }
  const chunk = { type, chunk_id: event.chunkId, chunk_sequence } as const;
  switch (event.type) {
    case "ChunkReceived":
      return { ...chunk, transcription_status: "pending" };
    case "ChunkPlaced":
    case "GapFilled":
      return {
        ...chunk,
        transcription_status: "processing",
        ...span(event.start, event.length),
      };
    case "ChunkTranscribed":
      return { ...chunk, transcription_status: "completed" };
    case "ChunkFailed":
      return { ...chunk, transcription_status: "failed", message: event.message };
  }
}

type SpeakerEvent = Extract<
  SessionEvent,
  { type: "SpeakersRevised" | "SpeakerClaimed" | "SpeakerUnclaimed" }
>;

function renderSpeakers(event: SpeakerEvent, names: ReadonlyMap<string, string>): FrameBody {
  switch (event.type) {
    case "SpeakersRevised":
      return {
        type: "SpeakerRevision",
        revisions: event.revisions.map(({ segmentId, label }) => ({
          segment_id: segmentId,
          speaker: label,
        })),
        merges: event.merges,
      };
    case "SpeakerClaimed":
      return {
        type: "SpeakerClaimed",
        speaker_label: event.label,
        source: event.source,
        claimed_user_id: event.claimedUserId,
        display_name: names.get(event.claimedUserId),
        revoked: false,
      };
    case "SpeakerUnclaimed":
      return { type: "SpeakerClaimed", speaker_label: event.label, revoked: true };
  }
}

type AfterwardsEvent = Extract<
  SessionEvent,
  {
    type:
      | "LateAudioDue"
      | "RedoRequested"
      | "RedoCancelled"
      | "SpanRedacted"
      | "SummaryUpdated"
      | "ConcernRaised"
      | "SessionDeleted";
  }
>;

function renderReplacement(
  event: Extract<SessionEvent, { type: "TranscriptReplaced" }>,
): FrameBody {
  return {
    type: "TranscriptReplaced",
    job_id: event.jobId,
    span: { start: toSeconds(event.from), end: toSeconds(event.to) },
    removed_segment_ids: event.removed.map(({ segmentId }) => segmentId),
    segment_ids: event.added.map(({ segmentId }) => segmentId),
    edits_replaced: event.editsReplaced ?? 0,
  };
}

function renderEvent(event: SessionEvent, sources: FrameSources): FrameBody {
  switch (event.type) {
    case "SessionStarted":
      return { type: "SessionStatus", status: "recording" };
    case "SessionStopped":
      return {
        type: "SessionStatus",
        status: "processing",
        ...(event.reason && { reason: event.reason }),
      };
    case "SessionCompleted":
      return { type: "SessionStatus", status: "completed" };
    case "SessionFailed":
      return { type: "SessionStatus", status: "failed" };
    case "JobStarted":
      return { type: "JobStatus", job_id: event.jobId, status: "running", progress: 0 };
    case "JobCompleted":
      return { type: "JobStatus", job_id: event.jobId, status: "completed", progress: 1 };
    case "JobFailed": {
      const { jobId: job_id, message: error } = event;
      return { type: "JobStatus", job_id, status: "failed", progress: 1, error };
    }
    case "SegmentFinalised":
      return renderSegment(event, sources.texts.get(event.segmentId));
    case "TranscriptReplaced":
      return renderReplacement(event);
    case "SegmentRevised":
      return renderEdit(event, sources.texts.get(event.segmentId));
    case "SpeakersRevised":
    case "SpeakerClaimed":
    case "SpeakerUnclaimed":
      return renderSpeakers(event, sources.displayNames);
    case "ChunkReceived":
    case "ChunkPlaced":
    case "ChunkTranscribed":
    case "ChunkFailed":
    case "GapDeclared":
    case "GapFilled":
      return renderChunk(event);
    default:
      return renderAfterwards(event);
  }
}

/** What people and later work do to a session. */
function renderAfterwards(event: AfterwardsEvent): FrameBody {
  switch (event.type) {
    case "LateAudioDue":
      return { type: "Stub" };
    case "RedoRequested":
      return { type: "JobStatus", job_id: event.jobId, status: "queued", progress: 0 };
    case "RedoCancelled":
      return { type: "JobStatus", job_id: event.jobId, status: "cancelled", progress: 0 };
    case "SpanRedacted":
      return {
        type: "Redacted",
        redaction_id: event.redactionId,
        span: { start: toSeconds(event.from), end: toSeconds(event.to) },
        speaker: event.label,
        segment_ids: event.segmentIds,
      };
    case "SummaryUpdated":
      return { type: "SummaryUpdated", job_id: event.jobId, summary_type: event.summaryType };
    case "ConcernRaised":
      return { type: "ConcernRaised", concern_id: event.concernId };
    case "SessionDeleted":
      return { type: "SessionStatus", status: "deleted" };
  }
}

function renderEdit(
  event: Extract<SessionEvent, { type: "SegmentRevised" }>,
  words: SegmentWords | undefined,
): FrameBody {
  if (words === undefined) return { type: "Stub" };
  return {
    type: "SegmentRevised",
    segment_id: event.segmentId,
    revision: event.revision,
    transcript: words.text,
    speaker: event.label,
  };
}

/**
 * Durable frames of the live channel, one for each event and in its order.
 * Pure: the same for those who follow live and for those who replay, but for
 * words that were replaced or erased since, whose frames are stubs.
 */
export function renderFrames(
  sessionId: string,
  records: readonly JournalRecord[],
  texts: ReadonlyMap<string, SegmentWords>,
  displayNames: ReadonlyMap<string, string>,
): DurableFrame[] {
  const sources = { texts, displayNames };
  return records.map(({ seq, at, event }): DurableFrame => {
    const envelope = { session_id: sessionId, seq, at: new Date(at).toISOString() };
    return { ...renderEvent(event, sources), ...envelope };
  });
}
