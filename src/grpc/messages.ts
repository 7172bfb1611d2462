import { toMilliseconds } from "../base/audio/sample-rate.ts";
import type { QuestionAnswer } from "../conversations/questions/by-rule.ts";
import type { SessionRecord } from "../conversations/sessions/store.ts";
import type { SegmentRecord } from "../conversations/transcript/writing/segment-record.ts";
import { type EncodedFrame, isDurable, metadataOf } from "../live/frames.ts";
import {
  type AskResponse,
  type ChunkStatus,
  type Redacted,
  type Session,
  type Snapshot,
  type Speaker,
  TranscriptEvent,
  type TranscriptSegment,
} from "../wire/gen/voice/v1/sessions.ts";
import type {
  ChunkStatusFrame,
  InterimResultsFrame,
  RedactedFrame,
  ResultsBody,
  ServerFrame,
  SnapshotFrame,
  SnapshotSegment,
  SpeakerFrame,
} from "../wire/live-frames.ts";

export function toSessionMessage(session: SessionRecord): Session {
  return {
    id: session.id,
    workspaceId: session.workspaceId,
    ownerId: session.ownerId,
    deviceId: session.deviceId,
    transcriptionJobId: session.jobId,
    title: session.title,
    language: session.language,
    status: session.status,
    visibility: session.visibility,
    guestAccess: session.guestAccess,
    workshopId: session.workshopId,
    startedAtMs: session.startedAt,
    stoppedAtMs: session.stoppedAt,
    completedAtMs: session.completedAt,
    createdAtMs: session.createdAt,
    externalId: session.externalId,
    metadata: session.metadata,
    tags: session.tags,
  };
}

export function toSegmentMessage(segment: SegmentRecord, withWords: boolean): TranscriptSegment {
  const words = withWords ? segment.words : [];
  return {
    id: segment.id,
    revision: segment.revision,
    startMs: toMilliseconds(segment.start),
    endMs: toMilliseconds(segment.end),
    speakerLabel: segment.label,
    text: segment.text,
    confidence: segment.confidence,
    words: words.map(({ text, start, end, confidence, unclear, timesClamped }) => ({
      text,
      startMs: toMilliseconds(start),
      endMs: toMilliseconds(end),
      confidence,
      unclear,
      timesClamped,
    })),
    unclearWords: [],
    speakerConfidence: segment.speakerConfidence,
    overlaps: (segment.overlaps ?? []).map(({ start, end, label, segmentId }) => {
      const times = { startMs: toMilliseconds(start), endMs: toMilliseconds(end) };
      return { ...times, speakerLabel: label, segmentId };
    }),
  };
}

export function toAnswerMessage({
  text,
  toolsUsed,
  citations,
  model,
}: QuestionAnswer): AskResponse {
  return {
    answer: text,
    toolsUsed,
    model,
    citations: citations.map((cited) => ({
      sessionId: cited.sessionId,
      segmentId: cited.segmentId,
      startMs: cited.startMs,
      endMs: cited.endMs,
      speakerLabel: cited.label,
      speakerName: cited.speakerName === "" ? undefined : cited.speakerName,
      text: cited.text,
    })),
  };
}

type Event = NonNullable<TranscriptEvent["event"]>;

/**
 * Encodes a frame as TranscriptEvent bytes, which all watches of its session in this process share.
 */
export function encodeEvent(frame: ServerFrame): EncodedFrame {
  const event = TranscriptEvent.encode(toEventMessage(frame)).finish();
  const bytes = Buffer.from(event.buffer, event.byteOffset, event.byteLength);
  return { ...metadataOf(frame), bytes };
}

function toEventMessage(frame: ServerFrame): TranscriptEvent {
  const durable = isDurable(frame) ? { seq: frame.seq, atMs: Date.parse(frame.at) } : {};
  return { sessionId: frame.session_id ?? "", ...durable, event: toEvent(frame) };
}

function toEvent(frame: ServerFrame): Event {
  switch (frame.type) {
    case "Snapshot":
      return { $case: "snapshot", value: toSnapshot(frame) };
    case "Results":
      if (frame.is_final) return { $case: "finalSegment", value: toResult(frame) };
      return { $case: "interimSegment", value: toInterim(frame) };
    case "SpeakerRevision":
    case "SpeakerClaimed":
    case "SpeakerNamed":
      return toSpeakerEvent(frame);
    case "SegmentRevised":
    case "TranscriptReplaced":
    case "Redacted":
      return toEditEvent(frame);
    case "ChunkStatus":
      return { $case: "chunkStatus", value: toChunkStatus(frame) };
    case "SessionStatus":
    case "JobStatus":
    case "SummaryUpdated":
    case "ConcernRaised":
    case "AnnotationChanged":
    case "GuestJoined":
    case "Stub":
      return toStatusEvent(frame);
    case "SpeechStarted":
      return { $case: "speechStartedMs", value: ms(frame.start) };
    case "UtteranceEnd":
      return { $case: "utteranceEndedMs", value: ms(frame.end) };
    case "Heartbeat":
      return { $case: "heartbeat", value: toHeartbeat(frame) };
    case "SessionEnded":
      return { $case: "sessionEnded", value: { status: frame.status, seq: frame.seq } };
    case "Warning":
    case "Error": {
      const { code, message, retryable } = frame;
      return { $case: "notice", value: { code, message, retryable } };
    }
  }
}

type FrameOf<T extends ServerFrame["type"]> = Extract<ServerFrame, { type: T }>;

function toSpeakerEvent(
  frame: FrameOf<"SpeakerRevision" | "SpeakerClaimed" | "SpeakerNamed">,
): Event {
  if (frame.type === "SpeakerNamed") {
    const { speaker_label: speakerLabel, free_name: freeName } = frame;
    return { $case: "speakerNamed", value: { speakerLabel, freeName } };
  }
  if (frame.type === "SpeakerClaimed") {
    return {
      $case: "speakerClaimed",
      value: { speaker: toSpeaker(frame), revoked: frame.revoked },
    };
  }
  const revisions = frame.revisions.map(({ segment_id, speaker }) => {
    return { segmentId: segment_id, speakerLabel: speaker };
  });
  return { $case: "speakerRevision", value: { revisions, merges: frame.merges } };
}

function toEditEvent(frame: FrameOf<"SegmentRevised" | "TranscriptReplaced" | "Redacted">): Event {
  if (frame.type === "SegmentRevised") {
    const { segment_id: segmentId, revision, transcript: text, speaker: speakerLabel } = frame;
    return { $case: "segmentRevised", value: { segmentId, revision, text, speakerLabel } };
  }
  if (frame.type === "Redacted") return { $case: "redacted", value: toRedacted(frame) };
  return {
    $case: "transcriptReplaced",
    value: {
      jobId: frame.job_id,
      ...toSpan(frame.span),
      removedSegmentIds: frame.removed_segment_ids,
      segmentIds: frame.segment_ids,
      editsReplaced: frame.edits_replaced,
    },
  };
}

function toStatusEvent(
  frame: FrameOf<
    | "SessionStatus"
    | "JobStatus"
    | "SummaryUpdated"
    | "ConcernRaised"
    | "AnnotationChanged"
    | "GuestJoined"
    | "Stub"
  >,
): Event {
  switch (frame.type) {
    case "SessionStatus":
      return { $case: "sessionStatus", value: { status: frame.status, reason: frame.reason } };
    case "JobStatus": {
      const { job_id: jobId, status, progress, error } = frame;
      return { $case: "jobStatus", value: { jobId, status, progress, error } };
    }
    case "SummaryUpdated": {
      const { job_id: jobId, summary_type: summaryType } = frame;
      return { $case: "summaryUpdated", value: { jobId, summaryType } };
    }
    case "ConcernRaised":
      return { $case: "concernRaised", value: { concernId: frame.concern_id } };
    case "AnnotationChanged": {
      const { annotation_type: annotationType, annotation_id: annotationId, removed } = frame;
      return { $case: "annotationChanged", value: { annotationType, annotationId, removed } };
    }
    case "GuestJoined": {
      const { guest_id: guestId, display_name: displayName } = frame;
      return { $case: "guestJoined", value: { guestId, displayName } };
    }
    case "Stub":
      return { $case: "withheld", value: {} };
  }
}

function toResult(frame: ResultsBody): TranscriptSegment {
  return {
    ...toSegment(frame),
    channel: frame.channel,
    words: frame.words.map(({ word, start, end, confidence, unclear, times_clamped }) => {
      const times = { startMs: ms(start), endMs: ms(end), timesClamped: times_clamped };
      return { text: word, ...times, confidence, unclear };
    }),
  };
}

function toInterim(frame: InterimResultsFrame): TranscriptSegment {
  return { ...toResult(frame), stableWords: frame.stable_words };
}

function toSegment(segment: SnapshotSegment): TranscriptSegment {
  return {
    id: segment.segment_id,
    revision: segment.revision,
    startMs: ms(segment.start),
    endMs: ms(segment.start + segment.duration),
    speakerLabel: segment.speaker,
    text: segment.transcript,
    confidence: segment.confidence,
    words: [],
    unclearWords: segment.unclear_words ?? [],
    speakerConfidence: segment.speaker_confidence ?? undefined,
    overlaps: (segment.overlaps ?? []).map(({ start, end, speaker, segment_id: segmentId }) => {
      return { startMs: ms(start), endMs: ms(end), speakerLabel: speaker, segmentId };
    }),
  };
}

function toSnapshot({ seq, session, speakers, segments, ...rest }: SnapshotFrame): Snapshot {
  const { seq_at: at } = rest;
  const { title, status, language, started_at: started, stopped_at: stopped } = session;
  return {
    seq,
    seqAtMs: at === undefined ? undefined : Date.parse(at),
    title,
    status,
    language,
    startedAtMs: Date.parse(started),
    stoppedAtMs: stopped === undefined ? undefined : Date.parse(stopped),
    speakers: speakers.map(toSpeaker),
    segments: segments.map(toSegment),
    nextPageToken: rest.segments_cursor ?? "",
    interimSegment: rest.interim === undefined ? undefined : toInterim(rest.interim),
  };
}

function toSpeaker(speaker: SpeakerFrame): Speaker {
  return {
    speakerLabel: speaker.speaker_label,
    claimedUserId: speaker.claimed_user_id,
    displayName: speaker.display_name,
    source: speaker.source,
    freeName: speaker.free_name,
  };
}

function toChunkStatus(frame: ChunkStatusFrame): ChunkStatus {
  return {
    chunkId: frame.chunk_id,
    chunkSequence: frame.chunk_sequence,
    transcriptionStatus: frame.transcription_status,
    missing: frame.missing ?? false,
    startMs: optionalMs(frame.start),
    durationMs: optionalMs(frame.duration),
    message: frame.message,
  };
}

function toRedacted(frame: RedactedFrame): Redacted {
  return {
    redactionId: frame.redaction_id,
    ...toSpan(frame.span),
    speakerLabel: frame.speaker,
    segmentIds: frame.segment_ids,
  };
}

function toHeartbeat(frame: FrameOf<"Heartbeat">) {
  return {
    seq: frame.seq,
    receivedMs: ms(frame.audio_received),
    finalisedMs: ms(frame.audio_finalised),
    lagMs: Math.round(frame.lag_ms),
    gaps: frame.gaps,
  };
}

function toSpan({ start, end }: { start: number; end: number }) {
  return { startMs: ms(start), endMs: ms(end) };
}

/** Seconds as whole milliseconds, since the messages use integers. */
function ms(seconds: number): number {
  return Math.round(seconds * 1_000);
}

function optionalMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : ms(seconds);
}
