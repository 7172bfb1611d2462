import type { ChunkMeasured, ChunkPlaced, ChunkReceived, GapDeclared, GapFilled } from "./event.ts";

/**
 * The places of chunks on the session's timeline, in samples at 16 kHz.
 *
 * Chunks are placed strictly by sequence, back to back. Within a run of chunks of one sample rate
 * the positions come from the cumulative frame count, so that rounding errors do not accumulate.
 */
export interface Timeline {
  /** The sequence that is placed next. */
  next: number;
  /** End of everything placed. */
  position: number;
  /** The current run of one sample rate: `base` is where it began. */
  run: { rate: number; frames: number; base: number };
  /** Stored chunks that wait for an earlier sequence. */
  waiting: WaitingChunk[];
  /** Stored chunks whose length is not known yet, in order; absent when there are none. */
  unmeasured?: WaitingChunk[];
  /** Chunks placed and not final yet, in order. */
  open: Entry[];
  /** Spans that the first reading does not read: missing chunks, and chunks that came late. */
  gaps: Gap[];
  /** Length of the newest placed chunk, which is assumed for missing ones. */
  nominal: number;
  /** End of the last chunk that the first reading has finalised as a whole. */
  finalTo: number;
  /**
   * All chunks from this sequence on were given up once: one that comes now is late, wherever it is
   * placed.
   */
  lateFrom?: number;
}

interface WaitingChunk {
  chunkId: string;
  sequence: number;
  frames: number;
  sampleRate: number;
  /** When it was received, Unix milliseconds. */
  at: number;
  /** Why the chunk will fail when it is placed. */
  unreadable?: string;
  /** It will, because its stored file is damaged. */
  damaged?: true;
}

interface Entry {
  chunkId: string;
  sequence: number;
  start: number;
  length: number;
}

/** A declared gap, and the late chunk that fills it, if any. */
export interface Gap extends Omit<GapDeclared, "type"> {
  /** The late chunk; the gap is removed when its span has been read again. */
  chunkId?: string;
  /**
   * When the late chunk came, Unix milliseconds; absent when it is read without waiting for others.
   */
  at?: number;
  /** The late chunk no longer waits for others. */
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

/** The place of `chunk` if it is placed next. */
export function placementOf(
  timeline: Timeline,
  chunk: WaitingChunk,
): { start: number; length: number } {
  const run = runFor(timeline, chunk.sampleRate);
  const end = run.base + toSamples(run.frames + chunk.frames, run.rate);
  return { start: timeline.position, length: end - timeline.position };
}

/**
 * The position of a frame `frames` frames into the chunk that is placed next, if that chunk has
 * this sample rate.
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
  if (timeline.unmeasured?.some((chunk) => chunk.sequence === sequence)) return true;
  if (sequence >= timeline.next) return timeline.waiting.some((c) => c.sequence === sequence);
  return !timeline.gaps.some((gap) => gap.sequence === sequence && gap.chunkId === undefined);
}

export function applyReceived(timeline: Timeline, event: ChunkReceived, at: number): void {
  if (isInTail(timeline, event.sequence)) reopenTail(timeline);
  const { chunkId, sequence, frames, sampleRate, unreadable, unmeasured } = event;
  const known = unreadable === undefined ? {} : { unreadable };
  const chunk = { chunkId, sequence, frames, sampleRate, at, ...known };
  if (unmeasured) timeline.unmeasured = bySequence([...(timeline.unmeasured ?? []), chunk]);
  else if (sequence >= timeline.next) timeline.waiting = bySequence([...timeline.waiting, chunk]);
}

/** A chunk whose length is known now waits for its place like others. */
export function applyMeasured(timeline: Timeline, event: ChunkMeasured): void {
  const { sequence, frames, sampleRate, unreadable, damaged } = event;
  const chunk = timeline.unmeasured?.find((each) => each.sequence === sequence);
  if (chunk === undefined) return;
  const left = timeline.unmeasured?.filter((each) => each !== chunk) ?? [];
  if (left.length > 0) timeline.unmeasured = left;
  else delete timeline.unmeasured;
  if (sequence < timeline.next) return;
  const known = { ...(unreadable !== undefined && { unreadable }), ...(damaged && { damaged }) };
  const measured = { ...chunk, frames, sampleRate, ...known };
  timeline.waiting = bySequence([...timeline.waiting, measured]);
}

function bySequence(chunks: WaitingChunk[]): WaitingChunk[] {
  return chunks.sort((a, b) => a.sequence - b.sequence);
}

/**
 * The first chunk without a length before which all others have their places, so that what is
 * needed to measure it is there or will not come in time.
 */
export function measurable({ unmeasured, next }: Timeline): WaitingChunk | undefined {
  return unmeasured?.find(({ sequence }) => sequence <= next);
}

function isInTail({ gaps }: Timeline, sequence: number): boolean {
  return gaps.some((gap) => gap.sequence === sequence && gap.tail === true);
}

/**
 * Removes the gaps at the end, so that their chunks are placed as if they had not been given up.
 */
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
  else if (length > 0) timeline.gaps.push({ ...entry, pin: 0, knownClusters: 0, at });
  advance(timeline, event.sequence, event.start + event.length);
  timeline.nominal = event.length;
}

export function applyGap(timeline: Timeline, event: GapDeclared): void {
  const { sequence, start, length, pin, knownClusters, tail } = event;
  const gap = { sequence, start, length, pin, knownClusters };
  timeline.gaps.push(tail ? { ...gap, tail } : gap);
  advance(timeline, sequence, start + length);
  // A chunk that replaces a gap at the end follows the chunk before it.
  if (tail) return;
  timeline.run = { rate: 0, frames: 0, base: timeline.position };
}

export function applyGapFilled(timeline: Timeline, event: GapFilled, at: number): void {
  if (event.mended) openAgain(timeline, event);
  const gap = timeline.gaps.find((g) => g.sequence === event.sequence);
  if (gap === undefined) return;
  gap.chunkId = event.chunkId;
  if (event.collected) gap.at = at;
  else gap.due = true;
}

/** A stretch that is over gets a gap once more, in which its chunk is read. */
function openAgain(timeline: Timeline, { sequence, start, length }: GapFilled): void {
  timeline.gaps.push({ sequence, start, length, pin: 0, knownClusters: 0 });
}

export function applyDue(timeline: Timeline, sequences: readonly number[]): void {
  const due = new Set(sequences);
  for (const gap of timeline.gaps) if (isLate(gap) && due.has(gap.sequence)) gap.due = true;
}

/**
 * The position before which all text of the first reading is final. While that reading runs, no
 * second reading may go beyond it.
 */
export function finalisedTo({ finalTo, gaps }: Timeline, checkpoint: number): number {
  let position = Math.max(finalTo, checkpoint);
  // The first reading brings no text for gaps.
  for (const { start, length } of gaps) {
    if (start <= position) position = Math.max(position, start + length);
  }
  return position;
}

function advance(timeline: Timeline, sequence: number, position: number): void {
  timeline.next = sequence + 1;
  timeline.position = position;
}

/** True of a placed chunk that holds no sound, as a stream's header has none. */
export function isEmpty({ open }: Timeline, sequence: number): boolean {
  return open.find((entry) => entry.sequence === sequence)?.length === 0;
}

/** Notes that the chunk, and all before it, are in the text. */
export function applyTranscribed(timeline: Timeline, sequence: number): void {
  const entry = timeline.open.find((each) => each.sequence === sequence);
  if (entry !== undefined) {
    timeline.finalTo = Math.max(timeline.finalTo, entry.start + entry.length);
  }
  applyDone(timeline, sequence);
}

/** Removes an open chunk that needs nothing more. */
export function applyDone(timeline: Timeline, sequence: number): void {
  timeline.open = timeline.open.filter((entry) => entry.sequence !== sequence);
}

/** Removes the gap of a late chunk that cannot be read. */
export function applyLost(timeline: Timeline, chunkId: string): void {
  timeline.gaps = timeline.gaps.filter((gap) => gap.chunkId !== chunkId);
}
