import type { Batch, Journal, Loaded, Recorded } from "../../../src/actor/journal.ts";
import type { CommandOutcome } from "../../../src/actor/outcomes.ts";
import { AppError } from "../../../src/base/errors.ts";

interface Log<S, E, W> {
  epoch: number;
  deleted: boolean;
  events: Recorded<E>[];
  writes: W[];
  finished: Set<string>;
  outcomes: CommandOutcome[];
  snapshot: { seq: number; version: number; state: S } | undefined;
}

/** The journal in memory: same promises as the one in PostgreSQL, as long as the process lives. */
export class MemoryJournal<S, E, W> implements Journal<S, E, W> {
  readonly #logs = new Map<string, Log<S, E, W>>();

  create(id: string): void {
    this.#logs.set(id, {
      epoch: 0,
      deleted: false,
      events: [],
      writes: [],
      finished: new Set(),
      outcomes: [],
      snapshot: undefined,
    });
  }

  remove(id: string): void {
    const log = this.#logs.get(id);
    if (log !== undefined) log.deleted = true;
  }

  /** Everything recorded, for assertions. */
  read(id: string): {
    events: readonly Recorded<E>[];
    writes: readonly W[];
    finished: Set<string>;
  } {
    const log = this.#logs.get(id);
    if (log === undefined) throw new Error(`no actor ${id}`);
    return log;
  }

  async activate(id: string): Promise<Loaded<S, E> | undefined> {
    const log = this.#logs.get(id);
    if (log === undefined || log.deleted) return undefined;
    log.epoch += 1;
    const from = log.snapshot?.seq ?? 0;
    return structuredClone({
      epoch: log.epoch,
      seq: log.events.length,
      snapshot: log.snapshot,
      events: log.events.slice(from),
      outcomes: log.outcomes,
    });
  }

  async append(batch: Batch<S, E, W>): Promise<void> {
    const log = this.#logs.get(batch.id);
    if (log === undefined || log.deleted) throw new AppError("session_deleted", "Deleted.");
    if (log.epoch !== batch.epoch || log.events.length !== batch.expectedSeq) {
      throw new AppError("stale_epoch", "Taken over.");
    }
    const copy = structuredClone(batch);
    log.events.push(...copy.events);
    log.writes.push(...copy.writes);
    for (const id of copy.commandIds) log.finished.add(id);
    const known = new Set(log.outcomes.map(({ commandId }) => commandId));
    log.outcomes.push(...copy.outcomes.filter(({ commandId }) => !known.has(commandId)));
    if (copy.snapshot !== undefined) log.snapshot = { seq: log.events.length, ...copy.snapshot };
  }
}
