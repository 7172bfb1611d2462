import type {
  RedoProposed,
  SegmentFinalised,
  SegmentRevised,
  SegmentsReassigned,
  SessionEvent,
  SpanRedacted,
  SpeakerClaimed,
  SpeakerNamed,
  SpeakersRevised,
  SpeakersUnmerged,
  TranscriptReplaced,
} from "./event.ts";
import { followMerge, followMoved, isRedacted } from "./redaction.ts";
import { insertSegment, type SegmentMark, segmentAt } from "./segments.ts";
import { applyLabel, applyMerge, applyUnmerge, labelIndex, ownLabel } from "./speakers.ts";
import type { SessionState } from "./state.ts";
import {
  applyDone,
  applyDue,
  applyGap,
  applyGapFilled,
  applyLost,
  applyMeasured,
  applyPlaced,
  applyReceived,
  applyTranscribed,
  finalisedTo,
  isEmpty,
} from "./timeline.ts";

/**
 * The newest concerns that the state keeps. A command is repeated within minutes, if at all, so
 * more would only make snapshots larger.
 */
const RAISED_KEPT = 64;

/**
 * Applies an event to the state, in place. It never fails and depends on nothing else, so that a
 * replay of the journal gives the same state.
 *
 * @param at when the event was recorded, Unix milliseconds
 */
export function apply(state: SessionState, event: SessionEvent, at: number): void {
  switch (event.type) {
    case "SessionStarted":
      state.phase = "recording";
      state.jobId = event.jobId;
      state.language = event.language;
      return;
    case "SessionStopped":
      state.phase = "processing";
      state.stop = { lastSequence: event.lastSequence, at };
      if (event.reason === "not_audio") state.refused = true;
      return;
    case "SessionCompleted":
      state.phase = "completed";
      return;
    case "SessionFailed":
      state.phase = "failed";
      return;
    case "SessionDeleted":
      state.phase = "deleted";
      return;
    case "ChunkReceived":
      return applyReceived(state.timeline, event, at);
    case "ChunkMeasured":
      return applyMeasured(state.timeline, event);
    case "ChunkPlaced":
      return applyPlaced(state.timeline, event, at);
    case "ChunkTranscribed":
      if (!isEmpty(state.timeline, event.sequence)) {
        state.heard = true;
        delete state.lost;
      }
      return applyTranscribed(state.timeline, event.sequence);
    case "ChunkFailed":
      if (!state.heard) state.lost = true;
      applyDone(state.timeline, event.sequence);
      return applyLost(state.timeline, event.chunkId);
    case "GapDeclared":
      return applyGap(state.timeline, event);
    case "GapFilled":
      return applyGapFilled(state.timeline, event, at);
    case "LateAudioDue":
      return applyDue(state.timeline, event.sequences);
    case "JobStarted":
      state.jobStarted = true;
      if (state.redo !== undefined) state.redo.started = true;
      return;
    case "JobCompleted":
    case "JobFailed":
    case "RedoCancelled":
      state.redo = undefined;
      return;
    case "RedoRequested":
      state.redo = { attempt: event.attempt, started: false };
      if (event.review === true) state.redo.review = true;
      state.attempts = event.attempt;
      delete state.candidate;
      return;
    case "RedoProposed":
      return applyProposal(state, event);
    case "RedoReviewed":
      delete state.candidate;
      state.reviewed = { attempt: event.attempt, outcome: event.outcome };
      return;
    case "SegmentFinalised":
      return applySegment(state, event);
    case "SegmentRevised":
      return applyEdit(state, event);
    case "TranscriptReplaced":
      return applyReplacement(state, event);
    case "SpanRedacted":
      return applyRedaction(state, event);
    case "SpeakersRevised":
      return applyRevision(state, event);
    case "SpeakersUnmerged":
      return applyUnmerged(state, event);
    case "SegmentsReassigned":
      return applyReassigned(state, event);
    case "SpeakerClaimed":
      return applyClaim(state, event);
    case "SpeakerUnclaimed":
      delete state.speakers.labels[labelIndex(event.label)]?.claim;
      return;
    case "SpeakerNamed":
      return applyName(state, event);
    case "ConcernRaised":
      state.concerns = [...(state.concerns ?? []), event.concernId].slice(-RAISED_KEPT);
      return;
    case "SummaryUpdated":
    case "AnnotationChanged":
    case "GuestJoined":
      return;
    default:
      event satisfies never;
  }
}

function applySegment(state: SessionState, event: SegmentFinalised): void {
  const { segmentId: id, start, end, label, cluster } = event;
  const redacted = isRedacted(state, { start, end, label });
  insertSegment(state.segments, {
    id,
    start,
    end,
    label,
    cluster,
    ...(redacted ? { redacted } : {}),
  });
  applyLabel(state.speakers, cluster, label);
  state.checkpoint = event.checkpoint;
  state.resume = event.resume;
}

function applyRevision(state: SessionState, event: SpeakersRevised): void {
  const isByPerson = event.byUserId !== undefined;
  for (const merge of event.merges) {
    state.redactions = followMerge(state, merge.from, merge.into);
    for (const mark of [...state.segments, ...(state.candidate?.segments ?? [])]) {
      if (mark.label !== merge.from) continue;
      // What came since an earlier merge has its own label by its cluster so far.
      if (isByPerson) mark.own = ownLabel(state.speakers, mark);
      mark.label = merge.into;
    }
    applyMerge(state.speakers, merge, isByPerson);
  }
  for (const revision of event.revisions) {
    applyLabel(state.speakers, revision.cluster, revision.label);
    const mark = segmentAt(state.segments, revision.start);
    if (mark === undefined) continue;
    mark.label = revision.label;
    mark.cluster = revision.cluster;
    delete mark.own;
  }
}

function applyUnmerged(state: SessionState, event: SpeakersUnmerged): void {
  const { label, into } = event;
  const ids = new Set(event.segments.map(({ segmentId }) => segmentId));
  const waiting = new Set(event.candidateIds);
  const isMoved = ({ id }: SegmentMark) => ids.has(id);
  state.redactions = followMoved(state, { from: into, label, isMoved, isVoice: true });
  applyUnmerge(state.speakers, label, into);
  const moved = [
    ...state.segments.filter(isMoved),
    ...(state.candidate?.segments ?? []).filter(({ id }) => waiting.has(id)),
  ];
  for (const mark of moved) {
    mark.label = label;
    if (mark.own === label) delete mark.own;
  }
}

function applyReassigned(state: SessionState, event: SegmentsReassigned): void {
  const { from, label } = event;
  const ids = new Set(event.segments.map(({ segmentId }) => segmentId));
  const isMoved = ({ id }: SegmentMark) => ids.has(id);
  state.redactions = followMoved(state, { from, label, isMoved, isVoice: false });
  applyLabel(state.speakers, -1, label);
  for (const mark of state.segments.filter(isMoved)) choose(mark, label);
}

/** A person says whose the segment is. */
function choose(mark: SegmentMark, label: string): void {
  mark.label = label;
  mark.chosen = true;
  delete mark.own;
}

function applyClaim(state: SessionState, event: SpeakerClaimed): void {
  const label = state.speakers.labels[labelIndex(event.label)];
  if (label === undefined) return;
  const { source, claimedUserId, byUserId } = event;
  label.claim = { source, claimedUserId, byUserId };
}

function applyName(state: SessionState, { label, nameId }: SpeakerNamed): void {
  const named = state.speakers.labels[labelIndex(label)];
  if (named === undefined) return;
  if (nameId === undefined) delete named.nameId;
  else named.nameId = nameId;
}

function applyReplacement(state: SessionState, event: TranscriptReplaced): void {
  const removed = new Set(event.removed.map(({ segmentId }) => segmentId));
  const added = event.added.map(({ segmentId, ...mark }) => ({ id: segmentId, ...mark }));
  state.segments = state.segments.filter(({ id }) => !removed.has(id));
  for (const mark of added) insertSegment(state.segments, mark);
  for (const mark of added) applyLabel(state.speakers, mark.cluster, mark.label);
  const filled = new Set(event.sequences);
  const { timeline } = state;
  timeline.finalTo = finalisedTo(timeline, state.checkpoint);
  timeline.gaps = timeline.gaps.filter((gap) => !filled.has(gap.sequence));
  state.attempts = Math.max(state.attempts, event.attempt);
}

function applyProposal(state: SessionState, { attempt, segments, kept }: RedoProposed): void {
  const marks = segments.map(({ segmentId, ...mark }) => ({ id: segmentId, ...mark }));
  state.candidate = { attempt, segments: marks, kept };
}

function applyEdit(state: SessionState, event: SegmentRevised): void {
  const mark = segmentAt(state.segments, event.start);
  if (mark === undefined) return;
  mark.revision = event.revision;
  if (event.chosen === true) choose(mark, event.label);
  else mark.label = event.label;
  applyLabel(state.speakers, -1, event.label);
}

function applyRedaction(state: SessionState, event: SpanRedacted): void {
  const redacted = new Set([...event.segmentIds, ...(event.candidateIds ?? [])]);
  for (const mark of [...state.segments, ...(state.candidate?.segments ?? [])]) {
    if (redacted.has(mark.id)) mark.redacted = true;
  }
  const { redactionId, from, to, label, byUserId } = event;
  const known = state.redactions.some(
    (each) =>
      each.redactionId === redactionId &&
      each.from === from &&
      each.to === to &&
      each.label === label,
  );
  if (!known) state.redactions.push({ redactionId, from, to, label, byUserId });
}
