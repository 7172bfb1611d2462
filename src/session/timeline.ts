import type { ChunkPlaced, ChunkReceived, GapDeclared, GapFilled } from "./event.ts";

/**
 * Where each chunk lies on the session's timeline, in samples at 16 kHz.
 *
 * Chunks are placed strictly by sequence, back to back. Within a run of chunks
 * of one sample rate the positions come from the cumulative frame count, so
 * that rounding never adds up.
 */
export interface Timeline {
  /** The sequence that is placed next. */
  next: number;
  /** End of everything placed. */
  position: number;
  /** The current run of one sample rate: `base` is where it began. */
  run: { rate: number; frames: number; base: number };
  /** Stored, but an earlier sequence is still missing. */
  waiting: WaitingChunk[];
  /** Chunks placed and not final yet, in order. */
  open: Entry[];
  /** Spans without sound that was read: what is missing, and what came late. */
  gaps: Gap[];
  /** Length of the newest placed chunk: what a missing one is taken for. */
  nominal: number;
  /** End of what the first reading is through with, as far as whole chunks tell. */
  finalTo: number;
  /** From this sequence on all was given up once: what comes there is late, wherever it goes. */
  lateFrom?: number;
}

interface WaitingChunk {
  chunkId: string;
  sequence: number;
  frames: number;
  sampleRate: number;
  /** When it was received, Unix milliseconds. */
  at: number;
  /** Why it will fail when it is placed. */
  unreadable?: string;
}

interface Entry {
  chunkId: string;
  sequence: number;
  start: number;
  length: number;
}

/** A gap as it was declared, and what has become of it. */
export interface Gap extends Omit<GapDeclared, "type"> {
  /** The late chunk, until its span has been read again. */
  chunkId?: string;
  /** When that came, Unix milliseconds; unknown of what is read without waiting for others. */
  at?: number;
  /** It waits for no others any more. */
  due?: true;
}

/** A gap whose chunk came. */
export type LateGap = Gap & { chunkId: string };

export function isLate(gap: Gap): gap is LateGap {
  return gap.chunkId !== undefined;
}

export const SAMPLE_RATE = 16_000;

export function emptyTimeline(): Timeline {
  return {
    next: 0,
    position: 0,
    run: { rate: 0, frames: 0, base: 0 },
    waiting: [],
    open: [],
    gaps: [],
    nominal: 0,
    finalTo: 0,
  };
}

/** Samples at 16 kHz of `frames` at `rate`. */
export function toSamples(frames: number, rate: number): number {
  return Math.floor((frames * SAMPLE_RATE) / rate);
}

/** The chunk that can be placed now, if it is there. */
export function placeable(timeline: Timeline): WaitingChunk | undefined {
  return timeline.waiting.find((chunk) => chunk.sequence === timeline.next);
}

/** Where `chunk` goes when it is placed next. */
export function placementOf(
  timeline: Timeline,
  chunk: WaitingChunk,
): { start: number; length: number } {
  const run = runFor(timeline, chunk.sampleRate);
  const end = run.base + toSamples(run.frames + chunk.frames, run.rate);
  return { start: timeline.position, length: end - timeline.position };
}

/**
 * Where the frame comes that is `frames` frames into the chunk which is placed
 * next, when that chunk has this sample rate.
 */
export function positionOf(timeline: Timeline, sampleRate: number, frames: number): number {
  const run = runFor(timeline, sampleRate);
  return run.base + toSamples(run.frames + frames, run.rate);
}

function runFor(timeline: Timeline, rate: number): Timeline["run"] {
  return timeline.run.rate === rate ? timeline.run : { rate, frames: 0, base: timeline.position };
}

/** True when a stored chunk of this sequence is placed or waiting already. */
export function isKnown(timeline: Timeline, sequence: number): boolean {
  if (sequence >= timeline.next) return timeline.waiting.some((c) => c.sequence === sequence);
  return !timeline.gaps.some((gap) => gap.sequence === sequence && gap.chunkId === undefined);
}

export function applyReceived(timeline: Timeline, event: ChunkReceived, at: number): void {
  if (isInTail(timeline, event.sequence)) reopenTail(timeline);
  if (event.sequence < timeline.next) return;
  const { chunkId, sequence, frames, sampleRate, unreadable } = event;
  const known = unreadable === undefined ? {} : { unreadable };
  timeline.waiting.push({ chunkId, sequence, frames, sampleRate, at, ...known });
  timeline.waiting.sort((a, b) => a.sequence - b.sequence);
}

function isInTail({ gaps }: Timeline, sequence: number): boolean {
  return gaps.some((gap) => gap.sequence === sequence && gap.tail === true);
}

/** What was given up at the end has no place: the chunks are placed as if it had not been. */
function reopenTail(timeline: Timeline): void {
  const [first] = timeline.gaps.filter(({ tail }) => tail);
  if (first === undefined) return;
  timeline.gaps = timeline.gaps.filter(({ tail }) => !tail);
  timeline.next = first.sequence;
  timeline.lateFrom ??= first.sequence;
}

export function applyPlaced(timeline: Timeline, event: ChunkPlaced, at: number): void {
  const chunk = timeline.waiting.find((c) => c.sequence === event.sequence);
  if (chunk === undefined) return;
  const run = runFor(timeline, chunk.sampleRate);
  timeline.run = { ...run, frames: run.frames + chunk.frames };
  timeline.waiting = timeline.waiting.filter((c) => c !== chunk);
  const { chunkId, sequence, start, length } = event;
  const entry = { chunkId, sequence, start, length };
  if (sequence < (timeline.lateFrom ?? Number.POSITIVE_INFINITY)) timeline.open.push(entry);
  else timeline.gaps.push({ ...entry, pin: 0, knownClusters: 0, at });
  advance(timeline, event.sequence, event.start + event.length);
  timeline.nominal = event.length;
}

export function applyGap(timeline: Timeline, event: GapDeclared): void {
  const { sequence, start, length, pin, knownClusters, tail } = event;
  const gap = { sequence, start, length, pin, knownClusters };
  timeline.gaps.push(tail ? { ...gap, tail } : gap);
  advance(timeline, sequence, start + length);
  // What comes in place of a gap at the end follows what was placed before it.
  if (tail) return;
  timeline.run = { rate: 0, frames: 0, base: timeline.position };
}

export function applyGapFilled(timeline: Timeline, event: GapFilled, at: number): void {
  const gap = timeline.gaps.find((g) => g.sequence === event.sequence);
  if (gap === undefined) return;
  gap.chunkId = event.chunkId;
  if (event.collected) gap.at = at;
  else gap.due = true;
}

export function applyDue(timeline: Timeline, sequences: readonly number[]): void {
  const due = new Set(sequences);
  for (const gap of timeline.gaps) if (isLate(gap) && due.has(gap.sequence)) gap.due = true;
}

/**
 * Everything before it is in the text, as far as the first reading heard it:
 * nothing that is read again may go beyond while that goes on.
 */
export function finalisedTo({ finalTo, gaps }: Timeline, checkpoint: number): number {
  let position = Math.max(finalTo, checkpoint);
  // Gaps hold nothing that the first reading could still bring.
  for (const { start, length } of gaps) {
    if (start <= position) position = Math.max(position, start + length);
  }
  return position;
}

function advance(timeline: Timeline, sequence: number, position: number): void {
  timeline.next = sequence + 1;
  timeline.position = position;
}

/** It is in the text, with all before it. */
export function applyTranscribed(timeline: Timeline, sequence: number): void {
  const entry = timeline.open.find((each) => each.sequence === sequence);
  if (entry !== undefined) {
    timeline.finalTo = Math.max(timeline.finalTo, entry.start + entry.length);
  }
  applyDone(timeline, sequence);
}

/** Forgets an entry that needs nothing more. */
export function applyDone(timeline: Timeline, sequence: number): void {
  timeline.open = timeline.open.filter((entry) => entry.sequence !== sequence);
}

/** A late chunk turned out unusable: its gap stays for good. */
export function applyLost(timeline: Timeline, chunkId: string): void {
  timeline.gaps = timeline.gaps.filter((gap) => gap.chunkId !== chunkId);
}
