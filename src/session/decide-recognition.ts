import type {
  ChunkFailedCommand,
  LanguageUnsupportedCommand,
  ProgressCommand,
  RecognisedSegment,
  RecognitionDoneCommand,
  RecognitionOpenedCommand,
  SuspectedCommand,
  TranscriptionCheckpoint,
  UtteranceCommand,
} from "./command.ts";
import { fitSegments, overlapsOf } from "./fit-segments.ts";
import { complete, isAllPlaced } from "./redact-covered.ts";
import { besideRedactions, isRedacted } from "./redaction.ts";
import { neededPoints, resumesAt } from "./resume-points.ts";
import { revise } from "./revise.ts";
import { segmentAt, segmentId } from "./segments.ts";
import { knownTo, labelForCluster } from "./speakers.ts";
import type { SessionState } from "./state.ts";
import { AUDIO_UNREADABLE, isOver, MAX_TRIES } from "./status.ts";
import { finalisedTo } from "./timeline.ts";
import type { Turn } from "./turn.ts";

export function decideOpened(turn: Turn, command: RecognitionOpenedCommand): void {
  const { jobStarted, jobId, redo } = turn.state;
  if (redo === undefined ? jobStarted : redo.started) return;
  const attempt = redo?.attempt ?? turn.state.attempt;
  const { engine, diarisationModelVersion, detectedLanguage, soundLeaves } = command;
  turn.emit({
    type: "JobStarted",
    jobId,
    attempt,
    engine,
    diarisationModelVersion,
    detectedLanguage,
    ...(soundLeaves === true ? { soundLeaves } : {}),
  });
}

export function decideUtterance(turn: Turn, command: UtteranceCommand): void {
  const { state } = turn;
  if (command.attempt !== state.attempt || isOver(state.phase)) return;
  // Text that a second reading brought, or this one before it broke, is not added again.
  const from = finalisedTo(state.timeline, state.checkpoint);
  const room = { from, to: Number.POSITIVE_INFINITY, kept: [] };
  const segments = besideRedactions(state, fitSegments(command.segments, room));
  for (const segment of segments) finalise(turn, segment, { ...command, segments });
  // A reading that began again before the final text repeats the speaker revisions of the first
  // one.
  if (command.end > from) revise(turn, command.revised, false);
  transcribedTo(turn, command.finalisedTo);
  if (command.checkpoint !== undefined) storeCheckpoint(turn, command.checkpoint);
  // Text that is final already needs no write.
  if (command.finalisedTo <= from) return;
  turn.write({
    type: "Progress",
    jobId: state.jobId,
    progress: progress(turn, command.finalisedTo),
  });
}

function storeCheckpoint(turn: Turn, checkpoint: TranscriptionCheckpoint): void {
  const { state } = turn;
  const { position, recogniser, speakers } = checkpoint;
  turn.write({
    type: "Checkpoint",
    attempt: state.attempt,
    position,
    recogniser,
    speakers,
    voices: knownTo(checkpoint, state.speakers.clusters),
    keep: neededPoints(state),
  });
}

function finalise(turn: Turn, segment: RecognisedSegment, utterance: UtteranceCommand): void {
  const { state } = turn;
  if (isRepeated(state, segment)) return;
  const { start, end, words, confidence, cluster } = segment;
  const idOf = (start: number): string => segmentId(state.sessionId, state.attempt, start);
  const id = idOf(start);
  const label = labelForCluster(state.speakers, cluster);
  const speakerConfidence = cluster < 0 ? undefined : segment.speakerConfidence;
  turn.write({
    type: "SegmentText",
    segmentId: id,
    attempt: state.attempt,
    start,
    end,
    label,
    words,
    confidence,
    speakerConfidence,
    overlaps: overlapsOf(segment, utterance.segments, idOf),
    redacted: isRedacted(state, { start, end, label }),
  });
  const { end: utteranceEnd, finalisedTo, checkpoint: stored } = utterance;
  // Another channel may still be speaking, since before this utterance's end.
  const reached = segment.channel === undefined ? utteranceEnd : finalisedTo;
  const checkpoint = Math.max(state.checkpoint, reached);
  const resume = stored?.position ?? resumesAt(state);
  const mark = { segmentId: id, start, end, label, cluster };
  const sure = speakerConfidence === undefined ? {} : { speakerConfidence };
  const heardOn = segment.channel === undefined ? {} : { channel: segment.channel };
  turn.emit({ type: "SegmentFinalised", ...mark, ...heardOn, ...sure, checkpoint, resume });
}

/**
 * True for a segment that is known, from a reading that began before the newest one. Those of several
 * channels overlap and come in any order, each with a start of its own.
 */
function isRepeated({ segments }: SessionState, { start, channel }: RecognisedSegment): boolean {
  if (channel !== undefined) return segmentAt(segments, start) !== undefined;
  const newest = segments.at(-1);
  return newest !== undefined && start <= newest.start;
}

/** The share of the received audio that is final, below 1 until the job is complete. */
function progress(turn: Turn, finalisedTo: number): number {
  const { position } = turn.state.timeline;
  return position === 0 ? 0 : Math.min(0.99, finalisedTo / position);
}

function transcribedTo(turn: Turn, finalisedTo: number): void {
  for (const entry of [...turn.state.timeline.open]) {
    if (entry.start + entry.length > finalisedTo) break;
    const { chunkId, sequence } = entry;
    turn.emit({ type: "ChunkTranscribed", chunkId, sequence });
  }
}

export function decideProgress(turn: Turn, command: ProgressCommand): void {
  const { state } = turn;
  if (command.attempt !== state.attempt || isOver(state.phase)) return;
  const before = state.timeline.open.length;
  transcribedTo(turn, command.finalisedTo);
  if (state.timeline.open.length === before) return;
  turn.write({
    type: "Progress",
    jobId: state.jobId,
    progress: progress(turn, command.finalisedTo),
  });
}

export function decideChunkFailed(turn: Turn, command: ChunkFailedCommand): void {
  const { open, gaps } = turn.state.timeline;
  const { sequence, code, message } = command;
  const chunkId = [...open, ...gaps].find((entry) => entry.sequence === sequence)?.chunkId;
  if (chunkId !== undefined) turn.emit({ type: "ChunkFailed", chunkId, sequence, code, message });
}

/**
 * Stores how often readings broke at each chunk, and fails chunks that broke `MAX_TRIES` readings.
 */
export function decideSuspected(turn: Turn, { attempt, suspects }: SuspectedCommand): void {
  turn.write({ type: "Suspects", attempt, suspects });
  for (const { sequence, breaks } of suspects) {
    if (breaks < MAX_TRIES) continue;
    decideChunkFailed(turn, {
      type: "ChunkFailed",
      sequence,
      code: AUDIO_UNREADABLE,
      message: `Reading this audio failed ${MAX_TRIES} times; it is left out of the text.`,
    });
  }
}

export function decideDone(turn: Turn, command: RecognitionDoneCommand): void {
  const { state } = turn;
  if (command.attempt !== state.attempt || state.phase !== "processing") return;
  revise(turn, command.speakers, true);
  transcribedTo(turn, state.timeline.position);
  complete(turn);
}

/**
 * Ends a session whose recording is over, unread: its audio stays, and a redo reads it once an
 * engine is there, or in another language.
 */
export function decideLanguageUnsupported(
  turn: Turn,
  { attempt, message }: LanguageUnsupportedCommand,
): void {
  const { state } = turn;
  if (attempt !== state.attempt || state.phase !== "processing" || !isAllPlaced(state)) return;
  turn.emit({ type: "JobFailed", jobId: state.jobId, attempt, message });
  turn.emit({ type: "SessionFailed", message, reason: "language_unsupported" });
}
