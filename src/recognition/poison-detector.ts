import type { AppError, ErrorCode } from "../base/errors.ts";
import { MAX_TRIES, type Suspect } from "../session/status.ts";
import { SAMPLE_RATE } from "../session/timeline.ts";

/** Most chunks that are blamed for one break; chunks behind them are found by a later break. */
const MAX_BLAMED = 64;
/** Breaks for which a chunk that was read to its end before is not blamed: see `PoisonDetector`. */
const PARDONS = 5;
/**
 * A reading that came this much further than the one before did not break at the same place,
 * samples.
 */
const FURTHER = 3 * SAMPLE_RATE;

/** Errors that audio cannot cause: the worker was away, had no room or was stopping. */
const NOBODYS_FAULT: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "unavailable",
  "overloaded",
  "unauthorized",
  "timeout",
  "engine_unavailable",
  "language_unsupported",
]);

/** True when the audio that was being read may have ended a reading. */
export function mayBeTheAudio(error: AppError | undefined): boolean {
  return error !== undefined && !NOBODYS_FAULT.has(error.code);
}

/** A chunk, a gap, or a fragment of a chunk that is still being streamed. */
export interface Fed {
  sequence: number;
  /** End of what was fed, in samples. */
  end: number;
  kind: "chunk" | "fragment" | "gap";
}

/**
 * Finds the chunks of one attempt at which readings break.
 *
 * All audio that was under way when a reading broke is suspect. Suspects are then fed one at a
 * time, each only after all audio before it was read, so that the next break has one cause. A chunk
 * that was read is no longer suspect; one that breaks MAX_TRIES readings is unreadable for good,
 * and read as a gap.
 *
 * A reading begins at a checkpoint, up to 20 s and more before the place at which the one before it
 * broke. Audio that the earlier one read to its end gives the same result again: where workers end
 * repeatedly, it is not blamed for being read so often, unless the breaks never end.
 */
export class PoisonDetector {
  readonly #suspects = new Map<number, Suspect>();
  /** The last chunk that was read to its end. */
  #readTo = -1;
  /** How many breaks a chunk that was read to its end before was not blamed for. */
  readonly #pardons = new Map<number, number>();
  #fed: Fed[] = [];
  #lastAudio: number | undefined;
  #isLoaded = false;

  /** Takes over the suspects of earlier activations; later calls do nothing. */
  load(known: readonly Suspect[]): void {
    if (this.#isLoaded) return;
    this.#isLoaded = true;
    for (const suspect of known) this.#suspects.set(suspect.sequence, suspect);
  }

  /** Notes that a reading begins with this chunk; all chunks before it were read. */
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

  /** False while the audio that was fed last must be read first. */
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

  /** Notes that everything before `position` was read. */
  read(position: number): void {
    const unread = this.#fed.findIndex(({ end }) => end > position);
    const passed = this.#fed.splice(0, unread < 0 ? this.#fed.length : unread);
    for (const { sequence, kind } of passed) {
      // The cause of breaks may lie in a later fragment of the same chunk.
      if (kind === "fragment" || this.isUnreadable(sequence)) continue;
      this.#suspects.delete(sequence);
      this.#readTo = Math.max(this.#readTo, sequence);
    }
  }

  /** All suspects of this attempt, those that are unreadable included. */
  get suspects(): Suspect[] {
    return [...this.#suspects.values()];
  }

  /**
   * Notes that a reading broke, having come to `position`. Returns all suspects, or undefined when
   * no audio was under way.
   */
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
    // A gap alone breaks nothing, but it ends the utterance of the audio before it.
    return this.#lastAudio === undefined ? [] : [this.#lastAudio];
  }

  /**
   * True when a chunk that was read before is not blamed this time. One that is not under way again
   * is blamed for the gap behind it.
   */
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
