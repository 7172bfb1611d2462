import { isDeepStrictEqual } from "node:util";
import type {
  Appended,
  Batch,
  CommandOutcome,
  Journal,
  Loaded,
  LoadFrom,
  Recorded,
} from "../../../src/actor/journal.ts";
import { AppError } from "../../../src/base/errors.ts";

interface Log<E, W> {
  epoch: number;
  deleted: boolean;
  events: Recorded<E>[];
  /** Of whose activation each event is. */
  epochs: number[];
  writes: W[];
  finished: Set<string>;
  hasWork: boolean;
  outcomes: CommandOutcome[];
  /** By version. */
  snapshots: Map<number, { seq: number; state: unknown }>;
}

interface Knowing {
  /** The version of snapshots that the release reads. */
  version?: number;
  /** The record's time, Unix milliseconds. */
  now?: () => number;
}

/** The journal in memory: same promises as the one in PostgreSQL, as long as the process lives. */
export class MemoryJournal<E, W> implements Journal<E, W> {
  readonly #logs = new Map<string, Log<E, W>>();
  readonly #version: number | undefined;
  readonly #now: () => number;

  constructor({ version, now = () => Date.now() }: Knowing = {}) {
    this.#version = version;
    this.#now = now;
  }

  create(id: string): void {
    this.#logs.set(id, {
      epoch: 0,
      deleted: false,
      events: [],
      epochs: [],
      writes: [],
      finished: new Set(),
      hasWork: true,
      outcomes: [],
      snapshots: new Map(),
    });
  }

  remove(id: string): void {
    const log = this.#logs.get(id);
    if (log !== undefined) log.deleted = true;
  }

  /** Everything recorded, for assertions. */
  read(id: string): {
    epoch: number;
    events: readonly Recorded<E>[];
    writes: readonly W[];
    finished: Set<string>;
  } {
    const log = this.#logs.get(id);
    if (log === undefined) throw new Error(`no actor ${id}`);
    return log;
  }

  async activate(id: string): Promise<Loaded<E> | undefined> {
    const log = this.#logs.get(id);
    if (log === undefined || log.deleted) return undefined;
    log.epoch += 1;
    return this.load(id, "snapshot");
  }

  async load(id: string, from: LoadFrom): Promise<Loaded<E> | undefined> {
    const log = this.#logs.get(id);
    if (log === undefined || log.deleted) return undefined;
    // Without a version: that of the only one there is.
    const own = log.snapshots.get(this.#version ?? [...log.snapshots.keys()].at(-1) ?? 0);
    const snapshot = from === "snapshot" ? own : undefined;
    return structuredClone({
      now: this.#now(),
      epoch: log.epoch,
      seq: log.events.length,
      hasWork: log.hasWork,
      snapshot,
      events: log.events.slice(snapshot?.seq ?? 0),
      outcomes: log.outcomes,
    });
  }

  async append(batch: Batch<E, W>): Promise<Appended> {
    const log = this.#logs.get(batch.id);
    if (log === undefined || log.deleted) throw new AppError("session_deleted", "Deleted.");
    const now = this.#now();
    if (log.epoch !== batch.epoch || log.events.length !== batch.expectedSeq) {
      if (log.epoch === batch.epoch && this.#landed(log, batch)) return { now };
      throw new AppError("stale_epoch", "Taken over.");
    }
    if (now > (batch.deadline ?? Number.POSITIVE_INFINITY)) {
      throw new AppError("too_late", "Too late.");
    }
    const copy = structuredClone(batch);
    log.events.push(...copy.events);
    log.epochs.push(...copy.events.map(() => copy.epoch));
    log.writes.push(...copy.writes);
    for (const id of copy.commandIds) log.finished.add(id);
    log.hasWork = copy.hasWork ?? (log.hasWork || copy.events.length > 0);
    const known = new Set(log.outcomes.map(({ commandId }) => commandId));
    log.outcomes.push(...copy.outcomes.filter(({ commandId }) => !known.has(commandId)));
    if (copy.snapshot !== undefined) this.#keep(log, copy.snapshot);
    return { now };
  }

  /** That of the version before stays; older ones go. */
  #keep(log: Log<E, W>, { version, state }: { version: number; state: unknown }): void {
    log.snapshots.set(version, { seq: log.events.length, state });
    for (const each of log.snapshots.keys()) if (each < version - 1) log.snapshots.delete(each);
  }

  #landed(log: Log<E, W>, { epoch, expectedSeq, events }: Batch<E, W>): boolean {
    const end = expectedSeq + events.length;
    const isOwn = log.epochs.slice(expectedSeq, end).every((each) => each === epoch);
    return (
      events.length > 0 && isOwn && isDeepStrictEqual(log.events.slice(expectedSeq, end), events)
    );
  }
}
