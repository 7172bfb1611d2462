import { toMilliseconds, toSeconds } from "../base/audio/sample-rate.ts";
import type { RecognisedSegment, SpeakerProposal } from "../session/command.ts";
import type { SessionState } from "../session/state.ts";
import type {
  Hypothesis,
  Segment,
  SpeakerUpdate,
  SpeechStarted,
} from "../wire/gen/voice/v1/worker.ts";
import type {
  DeviceFrame,
  HeartbeatFrame,
  InterimResultsFrame,
  TransientFrame,
} from "../wire/live-frames.ts";

/** Converts a worker's segment for the session. */
export function toSegment(segment: Segment): RecognisedSegment {
  const { start, end, words, confidence, cluster, speakerConfidence, channel } = segment;
  const heardOn = channel === undefined ? {} : { channel };
  const overlaps = segment.overlaps.length === 0 ? {} : { overlaps: segment.overlaps };
  const read = { start, end, words, confidence, cluster, ...heardOn, ...overlaps };
  if (speakerConfidence === undefined || cluster < 0) return read;
  // Events hold few digits: single precision would be written with seventeen.
  return { ...read, speakerConfidence: Math.round(speakerConfidence * 1_000) / 1_000 };
}

export function toProposal(update: SpeakerUpdate | undefined): SpeakerProposal {
  return { segments: update?.segments ?? [], merges: update?.merges ?? [] };
}

/** The frame of a beginning of speech. */
export function speechFrame(
  sessionId: string,
  { position, channel }: SpeechStarted,
): TransientFrame {
  const heardOn = channel === undefined ? {} : { channel };
  return { type: "SpeechStarted", session_id: sessionId, start: toSeconds(position), ...heardOn };
}

/** The frame of an unfinished utterance. */
export function interimFrame(
  sessionId: string,
  segmentId: string,
  hypothesis: Hypothesis,
  speaker: string,
): InterimResultsFrame {
  const { start, end, words, revision, stableWords, channel } = hypothesis;
  const total = words.reduce((sum, word) => sum + word.confidence, 0);
  return {
    type: "Results",
    session_id: sessionId,
    segment_id: segmentId,
    revision,
    is_final: false,
    start: toSeconds(start),
    duration: toSeconds(end - start),
    transcript: words.map((word) => word.text).join(" "),
    confidence: words.length === 0 ? 0 : total / words.length,
    speaker,
    ...(channel !== undefined && { channel }),
    stable_words: stableWords,
    words: words.map((word) => ({
      word: word.text,
      start: toSeconds(word.start),
      end: toSeconds(word.end),
      confidence: word.confidence,
      speaker,
    })),
  };
}

/** How far a session's audio was fed to the worker, read and finalised, in samples. */
interface Read {
  fedTo: number;
  processedTo: number;
  finalisedTo: number;
}

/** The heartbeat frame of a session. */
export function heartbeatFrame(
  { sessionId, timeline }: Readonly<SessionState>,
  seq: number,
  { fedTo, processedTo, finalisedTo }: Read,
  device: DeviceFrame | undefined,
): HeartbeatFrame {
  const received = Math.max(timeline.position, fedTo);
  return {
    type: "Heartbeat",
    session_id: sessionId,
    seq,
    audio_received: toSeconds(received),
    audio_finalised: toSeconds(Math.min(received, finalisedTo)),
    lag_ms: Math.max(0, toMilliseconds(received - processedTo)),
    gaps: timeline.gaps.length,
    ...(device && { device }),
  };
}
