import { toSeconds } from "../base/audio/sample-rate.ts";
import type { SessionEvent } from "../session/event.ts";
import type { LabelledOverlap, SegmentWords, Word } from "../session/write.ts";
import type { Durable, DurableFrame, SnapshotSegment, WordFrame } from "../wire/live-frames.ts";

export { toSeconds };

/** An event with its place in the session. */
export interface JournalRecord {
  seq: number;
  /** Unix milliseconds. */
  at: number;
  event: SessionEvent;
}

/** Content of frames that events do not hold. */
interface FrameSources {
  /** By segment id; segments that were replaced or erased are absent. */
  texts: ReadonlyMap<string, SegmentWords>;
  /** By the id of a user or guest, or of a label's free name. */
  displayNames: ReadonlyMap<string, string>;
}

type Body<F> = F extends Durable ? Omit<F, keyof Durable> : never;
/** A durable frame without its envelope, member by member of the union. */
type FrameBody = Body<DurableFrame>;

function span({ start, length }: { start: number; length: number }) {
  const from = toSeconds(start);
  // Computed from rounded ends, so that spans that touch in samples touch in seconds.
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

type EventOf<T extends SessionEvent["type"]> = Extract<SessionEvent, { type: T }>;

/** Renders an event for followers; an event type without a case here does not compile. */
function renderEvent(event: SessionEvent, { texts, displayNames }: FrameSources): FrameBody {
  switch (event.type) {
    case "SessionStarted":
      return { type: "SessionStatus", status: "recording" };
    case "SessionStopped":
      return renderEnd("processing", event);
    case "SessionCompleted":
      return { type: "SessionStatus", status: "completed" };
    case "SessionFailed":
      return renderEnd("failed", event);
    case "SessionDeleted":
      return { type: "SessionStatus", status: "deleted" };
    case "ChunkReceived":
      return { ...chunkOf(event), transcription_status: "pending" };
    case "ChunkPlaced":
    case "GapFilled":
      return { ...chunkOf(event), transcription_status: "processing", ...span(event) };
    case "ChunkTranscribed":
      return { ...chunkOf(event), transcription_status: "completed" };
    case "ChunkFailed":
      return { ...chunkOf(event), transcription_status: "failed", message: event.message };
    case "GapDeclared":
      return renderGap(event);
    case "LateAudioDue":
    case "ChunkMeasured":
    case "RedoProposed":
    case "RedoReviewed":
      return { type: "Stub" };
    case "JobStarted":
      return renderJobStart(event);
    case "JobFailed":
      return renderJobFailure(event);
    case "JobCompleted":
    case "RedoRequested":
    case "RedoCancelled":
      return renderJob(event);
    case "SegmentFinalised":
      return renderSegment(event, texts.get(event.segmentId));
    case "SegmentRevised":
      return renderEdit(event, texts.get(event.segmentId));
    case "TranscriptReplaced":
      return renderReplacement(event);
    case "SpanRedacted":
      return renderRedaction(event);
    case "SpeakersRevised":
      return renderRevision(event);
    case "SpeakersUnmerged":
    case "SegmentsReassigned":
      return renderMoved(event);
    case "SpeakerClaimed":
      return renderClaim(event, displayNames.get(event.claimedUserId));
    case "SpeakerUnclaimed":
      return { type: "SpeakerClaimed", speaker_label: event.label, revoked: true };
    case "SpeakerNamed":
      return renderName(event, displayNames);
    case "SummaryUpdated":
    case "ConcernRaised":
    case "AnnotationChanged":
      return renderAddition(event);
    case "GuestJoined":
      return renderGuest(event, displayNames.get(event.guestId));
  }
}

function renderEnd(
  status: "processing" | "failed",
  { reason }: EventOf<"SessionStopped" | "SessionFailed">,
): FrameBody {
  return { type: "SessionStatus", status, ...(reason && { reason }) };
}

function chunkOf({ chunkId, sequence }: { chunkId: string; sequence: number }) {
  return { type: "ChunkStatus", chunk_id: chunkId, chunk_sequence: sequence } as const;
}

function renderGap(event: EventOf<"GapDeclared">): FrameBody {
  return {
    type: "ChunkStatus",
    chunk_sequence: event.sequence,
    transcription_status: "pending",
    missing: true,
    ...span(event),
  };
}

/** Who watches already is told that the sound leaves; whoever comes later sees the Snapshot. */
function renderJobStart({ jobId, engine, soundLeaves }: EventOf<"JobStarted">): FrameBody {
  const about = { job_id: jobId, status: "running", progress: 0 } as const;
  if (soundLeaves !== true) return { type: "JobStatus", ...about };
  return { type: "JobStatus", ...about, engine, sound_leaves: true };
}

const JOB_STATES = {
  JobCompleted: { status: "completed", progress: 1 },
  RedoRequested: { status: "queued", progress: 0 },
  RedoCancelled: { status: "cancelled", progress: 0 },
} as const;

function renderJob({ type, jobId }: EventOf<keyof typeof JOB_STATES>): FrameBody {
  return { type: "JobStatus", job_id: jobId, ...JOB_STATES[type] };
}

function renderJobFailure({ jobId: job_id, message: error }: EventOf<"JobFailed">): FrameBody {
  return { type: "JobStatus", job_id, status: "failed", progress: 1, error };
}

function renderSegment(
  event: EventOf<"SegmentFinalised">,
  segment: SegmentWords | undefined,
): FrameBody {
  if (segment === undefined) return { type: "Stub" };
  return {
    type: "Results",
    segment_id: event.segmentId,
    revision: segment.revision,
    is_final: true,
    ...span({ start: event.start, length: event.end - event.start }),
    transcript: segment.text,
    confidence: segment.confidence,
    speaker: event.label,
    ...(event.channel !== undefined && { channel: event.channel }),
    speaker_confidence: event.speakerConfidence ?? null,
    ...overlapMembers(segment.overlaps),
    words: segment.words.map((word) => toWordFrame(word, event.label)),
  };
}

/** The members of a segment that tell who else speaks within it; none where nobody does. */
export function overlapMembers(
  overlaps: readonly LabelledOverlap[] = [],
): Pick<SnapshotSegment, "also_speaking" | "overlaps"> {
  if (overlaps.length === 0) return {};
  return {
    also_speaking: [...new Set(overlaps.map(({ label }) => label))],
    overlaps: overlaps.map(({ label, segmentId, start, end }) => {
      return {
        speaker: label,
        segment_id: segmentId,
        start: toSeconds(start),
        end: toSeconds(end),
      };
    }),
  };
}

function renderEdit(event: EventOf<"SegmentRevised">, words: SegmentWords | undefined): FrameBody {
  if (words === undefined) return { type: "Stub" };
  return {
    type: "SegmentRevised",
    segment_id: event.segmentId,
    revision: event.revision,
    transcript: words.text,
    speaker: event.label,
  };
}

function renderReplacement(event: EventOf<"TranscriptReplaced">): FrameBody {
  return {
    type: "TranscriptReplaced",
    job_id: event.jobId,
    span: { start: toSeconds(event.from), end: toSeconds(event.to) },
    removed_segment_ids: event.removed.map(({ segmentId }) => segmentId),
    segment_ids: event.added.map(({ segmentId }) => segmentId),
    edits_replaced: event.editsReplaced ?? 0,
  };
}

function renderRedaction(event: EventOf<"SpanRedacted">): FrameBody {
  return {
    type: "Redacted",
    redaction_id: event.redactionId,
    span: { start: toSeconds(event.from), end: toSeconds(event.to) },
    speaker: event.label,
    segment_ids: event.segmentIds,
  };
}

function renderRevision(event: EventOf<"SpeakersRevised">): FrameBody {
  return {
    type: "SpeakerRevision",
    revisions: event.revisions.map(({ segmentId, label }) => ({
      segment_id: segmentId,
      speaker: label,
    })),
    merges: event.merges,
  };
}

/** Segments under another label, as after a revision by the recognition. */
function renderMoved({
  segments,
  label,
}: EventOf<"SpeakersUnmerged" | "SegmentsReassigned">): FrameBody {
  const revisions = segments.map(({ segmentId }) => ({ segment_id: segmentId, speaker: label }));
  return { type: "SpeakerRevision", revisions, merges: [] };
}

function renderClaim(event: EventOf<"SpeakerClaimed">, displayName: string | undefined): FrameBody {
  return {
    type: "SpeakerClaimed",
    speaker_label: event.label,
    source: event.source,
    claimed_user_id: event.claimedUserId,
    display_name: displayName,
    revoked: false,
  };
}

/** A name that was replaced or erased since is not shown; the event of its successor follows. */
function renderName(
  { label, nameId }: EventOf<"SpeakerNamed">,
  names: ReadonlyMap<string, string>,
): FrameBody {
  if (nameId === undefined) return { type: "SpeakerNamed", speaker_label: label };
  const name = names.get(nameId);
  if (name === undefined) return { type: "Stub" };
  return { type: "SpeakerNamed", speaker_label: label, free_name: name };
}

/** What was made of the session, or said about it, by its id. */
function renderAddition(
  event: EventOf<"SummaryUpdated" | "ConcernRaised" | "AnnotationChanged">,
): FrameBody {
  if (event.type === "SummaryUpdated") {
    return { type: "SummaryUpdated", job_id: event.jobId, summary_type: event.summaryType };
  }
  if (event.type === "ConcernRaised") return { type: event.type, concern_id: event.concernId };
  return {
    type: "AnnotationChanged",
    annotation_type: event.annotationType,
    annotation_id: event.annotationId,
    removed: event.removed === true,
  };
}

/** A guest's name is erased with the session's words. */
function renderGuest({ guestId }: EventOf<"GuestJoined">, name: string | undefined): FrameBody {
  if (name === undefined || name === "") return { type: "Stub" };
  return { type: "GuestJoined", guest_id: guestId, display_name: name };
}

/**
 * Renders durable frames of the live channel, one for each event and in its order. Pure: live and
 * replayed frames are the same, except that the frames of words that were replaced or erased since
 * are stubs.
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
