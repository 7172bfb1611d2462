import type { AppError, ErrorCode } from "../base/errors.ts";
import { MAX_TRIES, type Suspect } from "../session/status.ts";
import { SAMPLE_RATE } from "../session/timeline.ts";

/** Chunks blamed for one break at most; what lies behind them is found out by a later one. */
const MAX_BLAMED = 64;
/** Breaks that are not held against a chunk that was read to its end before: see `PoisonDetector`. */
const PARDONS = 5;
/** A reading that came this much further than the one before did not break at the same place. */
const FURTHER = 3 * SAMPLE_RATE;

/** The worker was not there, had no room or was leaving: no audio made it do so. */
const NOBODYS_FAULT: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "unavailable",
  "overloaded",
  "unauthorized",
  "timeout",
]);

/** True when the audio in work may be what ended a reading. */
export function mayBeTheAudio(error: AppError | undefined): boolean {
  return error !== undefined && !NOBODYS_FAULT.has(error.code);
}

/** A chunk, a gap, or a piece of a chunk that is still being streamed. */
export interface Fed {
  sequence: number;
  /** End of what was fed, in samples. */
  end: number;
  kind: "chunk" | "piece" | "gap";
}

/**
 * Which chunks of one attempt readings break at.
 *
 * Whatever was under way when a reading broke is suspect. Suspects are then fed
 * one at a time, each only after all before it was read, so that the next break
 * has one culprit. What was read is suspect no longer; what breaks readings
 * MAX_TRIES times is unreadable for good, and read as a gap.
 *
 * A reading begins at a checkpoint, up to 20 s and more before the place at which the one before
 * it broke. What that one had read to its end gives the same again: where workers end time and
 * again, it is not blamed for being read so often, unless it never ends.
 */
export class PoisonDetector {
  readonly #suspects = new Map<number, Suspect>();
  /** The last chunk that was read to its end. */
  #readTo = -1;
  /** How often a reading broke at chunks that were read to their end before. */
  readonly #pardons = new Map<number, number>();
  #fed: Fed[] = [];
  #lastAudio: number | undefined;
  #isLoaded = false;

  /** Takes over what is known from earlier activations, once. */
  load(known: readonly Suspect[]): void {
    if (this.#isLoaded) return;
    this.#isLoaded = true;
    for (const suspect of known) this.#suspects.set(suspect.sequence, suspect);
  }

  /** A reading begins with this chunk; all before it were read. */
  begin(sequence: number): void {
    this.#fed = [];
    this.#lastAudio = undefined;
    for (const suspect of this.#pending()) {
      if (suspect.sequence < sequence) this.#suspects.delete(suspect.sequence);
    }
    for (const pardoned of this.#pardons.keys()) {
      if (pardoned < sequence) this.#pardons.delete(pardoned);
    }
  }

  /** True while chunks are to be fed one at a time. */
  get isCareful(): boolean {
    return this.#pending().length > 0;
  }

  /** False when what was fed last must be read first. */
  get mayFeed(): boolean {
    return this.#fed.length === 0 || !this.isCareful;
  }

  isUnreadable(sequence: number): boolean {
    return (this.#suspects.get(sequence)?.breaks ?? 0) >= MAX_TRIES;
  }

  fed(fed: Fed): void {
    this.#fed.push(fed);
    if (fed.kind !== "gap") this.#lastAudio = fed.sequence;
  }

  /** Everything before `position` was read. */
  read(position: number): void {
    const unread = this.#fed.findIndex(({ end }) => end > position);
    const passed = this.#fed.splice(0, unread < 0 ? this.#fed.length : unread);
    for (const { sequence, kind } of passed) {
      // What breaks readings may lie in a later piece of the same chunk.
      if (kind === "piece" || this.isUnreadable(sequence)) continue;
      this.#suspects.delete(sequence);
      this.#readTo = Math.max(this.#readTo, sequence);
    }
  }

  /** Everything that is held against chunks of this attempt. */
  get suspects(): Suspect[] {
    return [...this.#suspects.values()];
  }

  /** A reading broke, having come to `position`. All suspects now, or undefined when no audio was in work. */
  broke(position: number): Suspect[] | undefined {
    this.read(position);
    const blamed = this.#blamed().filter((sequence) => !this.#isPardoned(sequence));
    if (blamed.length === 0) return undefined;
    for (const sequence of blamed) this.#blame(sequence, position);
    return this.suspects;
  }

  #blamed(): number[] {
    const newest = this.#fed.at(-1);
    if (newest === undefined) return [];
    const audio = this.#fed.filter(({ kind }) => kind !== "gap").map(({ sequence }) => sequence);
    if (!this.isCareful && audio.length > 0) return [...new Set(audio)].slice(0, MAX_BLAMED);
    // A gap by itself breaks nothing: it ends the utterance that the audio before it began.
    return this.#lastAudio === undefined ? [] : [this.#lastAudio];
  }

  /** What was read, and is not in work again, is to blame for the gap behind it. */
  #isPardoned(sequence: number): boolean {
    if (!this.#fed.some((fed) => fed.sequence === sequence)) return false;
    const pardons = this.#pardons.get(sequence) ?? 0;
    if (sequence > this.#readTo || pardons >= PARDONS) return false;
    this.#pardons.set(sequence, pardons + 1);
    return true;
  }

  #blame(sequence: number, position: number): void {
    const before = this.#suspects.get(sequence);
    const isSamePlace = before !== undefined && position <= before.position + FURTHER;
    this.#suspects.set(sequence, {
      sequence,
      breaks: isSamePlace ? before.breaks + 1 : 1,
      position: Math.max(position, before?.position ?? 0),
    });
  }

  #pending(): Suspect[] {
    return this.suspects.filter(({ breaks }) => breaks < MAX_TRIES);
  }
}
