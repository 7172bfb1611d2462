import type { ErrorCode } from "../base/errors.ts";

/** What the sender of a command was told. */
export type Outcome =
  | { ok: true; value: unknown }
  | { ok: false; code: ErrorCode; message: string };

export interface CommandOutcome {
  commandId: string;
  outcome: Outcome;
}

/** Far above what people ask of one actor while a command may still come again. */
const MAX_OUTCOMES = 4_096;

/** The newest outcomes of an actor's commands, for those that come again. */
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

/** Port: what the record knows of a command, for whoever waits in vain for its answer. */
export interface CommandRecord {
  /** The record's time, Unix milliseconds. Throws `unavailable`. */
  now(): Promise<number>;
  /**
   * What became of a command that must not be carried out after `deadline`. Waits for a batch that
   * is being written just now. Throws when the record cannot tell.
   */
  fate(sessionId: string, commandId: string, deadline: number): Promise<CommandFate>;
}

export interface CommandFate {
  /** Undefined when it was not carried out, nor refused, until now. */
  outcome: Outcome | undefined;
  /** Its deadline is over: what did not become of it by now never will. */
  isOver: boolean;
}

/**
 * Port: the durable record of actors.
 *
 * `E` event, `W` a write that goes with events but is not one
 * (words, checkpoints): it lands in the same transaction, in erasable tables.
 */
export interface Journal<E, W> {
  /**
   * Takes the actor over: raises its epoch durably and loads what is known.
   * Every append under an earlier epoch is refused from then on. Undefined when
   * there is no such actor, or it was deleted.
   */
  activate(id: string): Promise<Loaded<E> | undefined>;
  /** As `activate`, without taking the actor over: its epoch is that of whoever has it. */
  load(id: string, from: LoadFrom): Promise<Loaded<E> | undefined>;
  /**
   * All of the batch or nothing, after which it survives a power failure. A
   * batch that landed before, and whose answer was lost, is not written again.
   * Throws AppError `stale_epoch` when another activation has taken over or
   * the expected seq does not match, `session_deleted` when the actor was
   * deleted, `too_late` when the batch's deadline is over, `unavailable` when
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
  /** As the record has it: an activation that knows better says so. */
  hasWork: boolean;
  /** Of the version that this release writes. */
  snapshot: { seq: number; state: unknown } | undefined;
  /** Events after the snapshot, in order. */
  events: Recorded<E>[];
  /** Of commands that may still come again, oldest first; the newest when there are very many. */
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
  /** Whether something is left to do after it. Events without it leave the record at "yes". */
  hasWork?: boolean;
  /** Commands that this batch finishes: their outbox rows go with it. */
  commandIds: string[];
  /** Of those that must not be carried out again; kept for as long as they may come again. */
  outcomes: CommandOutcome[];
  /** The record's time, Unix milliseconds, after which none of it may be written. */
  deadline?: number;
  /** Kept instead of the earlier one of the same version. */
  snapshot?: { version: number; state: unknown };
}
