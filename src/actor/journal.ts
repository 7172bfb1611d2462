import type { Clock } from "../base/clock.ts";
import type { ErrorCode } from "../base/errors.ts";

/** The answer to a command. */
export type Outcome =
  | { ok: true; value: unknown }
  | { ok: false; code: ErrorCode; message: string };

export interface CommandOutcome {
  commandId: string;
  outcome: Outcome;
}

/** Most outcomes of one actor, far more than people cause while a command may still be repeated. */
const MAX_OUTCOMES = 4_096;

/** The newest outcomes of an actor's commands, to answer repeated ones. */
export class Outcomes {
  readonly #known = new Map<string, Outcome>();

  get(commandId: string): Outcome | undefined {
    return this.#known.get(commandId);
  }

  add(outcomes: readonly CommandOutcome[]): void {
    for (const { commandId, outcome } of outcomes) this.#known.set(commandId, outcome);
    for (const commandId of this.#known.keys()) {
      if (this.#known.size <= MAX_OUTCOMES) break;
      this.#known.delete(commandId);
    }
  }
}

/** Port: looks up a command on record when its answer did not come. */
export interface CommandRecord {
  /** The record's time, Unix milliseconds. Throws `unavailable`. */
  now(): Promise<number>;
  /**
   * Reads what became of a command that must not be carried out after `deadline` (the record's
   * time, Unix milliseconds). Waits for a batch that is being written. Throws when that cannot be
   * found out.
   */
  fate(sessionId: string, commandId: string, deadline: number): Promise<CommandFate>;
}

export interface CommandFate {
  /** Undefined when it was neither carried out nor refused until now. */
  outcome: Outcome | undefined;
  /** Its deadline has passed: if it was not carried out by now, it never will be. */
  isOver: boolean;
}

/**
 * Port: the durable record of actors.
 *
 * `E` is an event. `W` is a write that goes with events but is not one (words, checkpoints): it is
 * written in the same transaction, to tables that can be erased.
 */
export interface Journal<E, W> {
  /**
   * Takes over the actor: raises its epoch durably and loads its record. Every append under an
   * earlier epoch is refused from then on. Undefined when the actor does not exist or was deleted.
   */
  activate(id: string): Promise<Loaded<E> | undefined>;
  /**
   * Like `activate`, without taking over the actor: the epoch is that of its current activation.
   */
  load(id: string, from: LoadFrom): Promise<Loaded<E> | undefined>;
  /**
   * Writes all of the batch or nothing, so that it survives a power failure. A batch that was
   * written before, and whose answer was lost, is not written again. Throws AppError `stale_epoch`
   * when another activation has taken over or the expected seq does not match, `session_deleted`
   * when the actor was deleted, `too_late` when the batch's deadline has passed, `unavailable` when
   * the outcome is unknown or storage is away.
   */
  append(batch: Batch<E, W>): Promise<Appended>;
}

/** From the newest snapshot, or from the first event on. */
export type LoadFrom = "snapshot" | "beginning";

export interface Appended {
  /** The record's time while it was asked, Unix milliseconds. */
  now: number;
}

export interface Loaded<E> {
  /** The record's time while it was asked, Unix milliseconds. */
  now: number;
  epoch: number;
  /** Newest seq in the journal; 0 for a new actor. */
  seq: number;
  /** The stored value; an activation that finds another one corrects it. */
  hasWork: boolean;
  /** The newest snapshot of this release's version. */
  snapshot: { seq: number; state: unknown } | undefined;
  /** Events after the snapshot, in order. */
  events: Recorded<E>[];
  /**
   * Outcomes of commands that may still be repeated, oldest first; only the newest when there are
   * very many.
   */
  outcomes: CommandOutcome[];
}

export interface Recorded<E> {
  seq: number;
  /** Unix milliseconds. */
  at: number;
  event: E;
}

export interface Batch<E, W> {
  id: string;
  epoch: number;
  /** Seq of the newest event before this batch. */
  expectedSeq: number;
  events: Recorded<E>[];
  writes: W[];
  /**
   * Whether the actor has work after the batch. Events without this leave the stored value true.
   */
  hasWork?: boolean;
  /** Commands that this batch finishes: their outbox rows are deleted with it. */
  commandIds: string[];
  /**
   * Outcomes of commands that must not be carried out twice; stored for as long as they may be
   * repeated.
   */
  outcomes: CommandOutcome[];
  /** The record's time, Unix milliseconds, after which none of it may be written. */
  deadline?: number;
  /** Replaces the earlier snapshot of the same version. */
  snapshot?: { version: number; state: unknown };
}

/**
 * Estimates the record's time between its answers by this host's monotonic clock. No host's wall
 * clock is involved, so that an actor's next host continues where the one before stopped.
 */
export class RecordClock {
  readonly #clock: Pick<Clock, "monotonic">;
  /** The difference to the monotonic time, milliseconds. */
  #offset = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /**
   * Sets the time from an answer of the record: it was asked at `askedAt` (monotonic milliseconds),
   * has answered just now, and its time in between was `now` (Unix milliseconds). The estimate is
   * never ahead of the record's time.
   */
  heard(now: number, askedAt: number): void {
    const least = now - this.#clock.monotonic();
    this.#offset = Math.min(Math.max(this.#offset, least), now - askedAt);
  }

  /** The record's time, Unix milliseconds. `heard` must have been called before. */
  now(): number {
    return Math.floor(this.#offset + this.#clock.monotonic());
  }
}
