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
  gaps: Gap[];
  /** Length of the newest placed chunk: what a missing one is taken for. */
  nominal: number;
}

export interface WaitingChunk {
  chunkId: string;
  sequence: number;
  frames: number;
  sampleRate: number;
  /** When it was received, Unix milliseconds. */
  at: number;
  /** Why it will fail when it is placed. */
  unreadable?: string;
}

export interface Entry {
  chunkId: string;
  sequence: number;
  start: number;
  length: number;
}

export interface Gap {
  sequence: number;
  start: number;
  length: number;
  pin: number;
  knownClusters: number;
  /** The late chunk, while its span is being re-derived. */
  chunkId?: string;
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
  if (event.sequence < timeline.next) return;
  const { chunkId, sequence, frames, sampleRate, unreadable } = event;
  const known = unreadable === undefined ? {} : { unreadable };
  timeline.waiting.push({ chunkId, sequence, frames, sampleRate, at, ...known });
  timeline.waiting.sort((a, b) => a.sequence - b.sequence);
}

export function applyPlaced(timeline: Timeline, event: ChunkPlaced): void {
  const chunk = timeline.waiting.find((c) => c.sequence === event.sequence);
  if (chunk === undefined) return;
  const run = runFor(timeline, chunk.sampleRate);
  timeline.run = { ...run, frames: run.frames + chunk.frames };
  timeline.waiting = timeline.waiting.filter((c) => c !== chunk);
  timeline.open.push({
    chunkId: event.chunkId,
    sequence: event.sequence,
    start: event.start,
    length: event.length,
  });
  advance(timeline, event.sequence, event.start + event.length);
  timeline.nominal = event.length;
}

export function applyGap(timeline: Timeline, event: GapDeclared): void {
  const { sequence, start, length, pin, knownClusters } = event;
  timeline.gaps.push({ sequence, start, length, pin, knownClusters });
  advance(timeline, sequence, start + length);
  timeline.run = { rate: 0, frames: 0, base: timeline.position };
}

export function applyGapFilled(timeline: Timeline, event: GapFilled): void {
  const gap = timeline.gaps.find((g) => g.sequence === event.sequence);
  if (gap !== undefined) gap.chunkId = event.chunkId;
}

function advance(timeline: Timeline, sequence: number, position: number): void {
  timeline.next = sequence + 1;
  timeline.position = position;
}

/** Forgets an entry that needs nothing more. */
export function applyDone(timeline: Timeline, sequence: number): void {
  timeline.open = timeline.open.filter((entry) => entry.sequence !== sequence);
}

/** A late chunk turned out unusable: its gap stays for good. */
export function applyLost(timeline: Timeline, chunkId: string): void {
  timeline.gaps = timeline.gaps.filter((gap) => gap.chunkId !== chunkId);
}
