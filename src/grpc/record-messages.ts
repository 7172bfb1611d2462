import { toMilliseconds } from "../base/audio/sample-rate.ts";
import type { QuestionAnswer } from "../features/questions/ask.ts";
import type { SessionRecord } from "../features/sessions/store.ts";
import type { SegmentRecord } from "../features/transcript/segments.ts";
import type { AskResponse, Session, TranscriptSegment } from "../wire/gen/voice/v1/sessions.ts";

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
  };
}

export function toAnswerMessage({ text, toolsUsed, citations }: QuestionAnswer): AskResponse {
  return {
    answer: text,
    toolsUsed,
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
