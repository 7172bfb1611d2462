import type { CompanionContext } from "../../src/actor/behaviour.ts";
import { ActorHost } from "../../src/actor/host.ts";
import type { Appended } from "../../src/actor/journal.ts";
import { AppError, isAppError } from "../../src/base/errors.ts";
import { silentLog } from "../../src/base/log.ts";
import { PARTITIONS, partitionOf } from "../../src/base/partition.ts";
import { sessionBehaviour } from "../../src/session/behaviour.ts";
import type { SessionCommand } from "../../src/session/command.ts";
import type { SessionEvent } from "../../src/session/event.ts";
import type { SessionState } from "../../src/session/state.ts";
import type { SessionWrite } from "../../src/session/write.ts";
import { runtimeBy } from "../support/manual-clock.ts";
import { MemoryJournal } from "../support/memory/memory-journal.ts";
import type { SeededRandom } from "../support/seeded-random.ts";
import type { Mutation, SessionBatch, SessionBehaviour, SessionJournalPort } from "./mutation.ts";
import { type ReaderWorld, ScriptedReader } from "./scripted-reader.ts";
import { SessionModel } from "./session-model.ts";
import { tick } from "./tick.ts";

export type Host = ActorHost<SessionState, SessionEvent, SessionWrite, SessionCommand>;

export const SESSION_ID = "01900000-0000-7000-8000-000000000001";

/** One session on several hosts that all believe to own it, over one record. */
export class SessionWorld implements ReaderWorld {
  readonly record = new MemoryJournal<SessionState, SessionEvent, SessionWrite>({
    now: () => this.now,
  });
  readonly model = new SessionModel();
  readonly random: SeededRandom;
  readonly hosts: Host[];
  now = 1_700_000_000_000;
  /** Share of appends that fail, before or after they took effect; half of those kill the host. */
  failing = 0;
  /** Appends of activations that another has replaced. */
  refused = 0;
  crashes = 0;
  /** What contradicts the model, or what was answered: the first one counts. */
  fault: Error | undefined;
  /** Lengths of the chunks that are stored, by sequence. */
  readonly stored = new Map<number, number>();
  readonly #written: SessionJournalPort;
  #epoch = 0;
  #events = 0;

  constructor(random: SeededRandom, hosts: number, mutation: Mutation | undefined) {
    this.random = random;
    this.record.create(SESSION_ID);
    const truth = { length: () => this.#events, epoch: () => this.#epoch };
    this.#written = mutation?.record?.(this.record, truth) ?? this.record;
    this.hosts = Array.from({ length: hosts }, () => this.#host(mutation));
  }

  #host(mutation: Mutation | undefined): Host {
    const broken = (): void => this.#crash(host);
    const journal: SessionJournalPort = {
      activate: (id) => this.#activate(id),
      load: (id, from) => this.record.load(id, from),
      append: (batch) => this.#append(batch, broken),
    };
    // Timers belong to the reader, so that time passes only when the world says so.
    const timeless: SessionBehaviour = { ...sessionBehaviour, deadline: () => undefined };
    const host: Host = new ActorHost({
      activation: {
        behaviour: mutation?.behaviour?.(timeless) ?? timeless,
        journal: mutation?.journal?.(journal) ?? journal,
        createCompanion: (context: CompanionContext<SessionCommand>) => {
          const dies = (): boolean => this.#diesBeforeEffects(broken);
          const reader = new ScriptedReader(context, this, dies);
          return mutation?.effects?.(reader) ?? reader;
        },
        runtime: runtimeBy({ now: () => this.now, monotonic: () => this.now }),
        log: silentLog,
        mailboxCapacity: 256,
        batchSize: 8,
        snapshotEvery: 7,
        appendAttempts: 1,
      },
      maxActivations: 10,
      passivateAfter: 1_000_000_000,
      sweepEvery: 1_000_000,
    });
    ownAll(host);
    return host;
  }

  async #activate(id: string) {
    for (let wait = this.random.below(3); wait > 0; wait -= 1) await tick();
    const loaded = await this.record.activate(id);
    this.#epoch = loaded?.epoch ?? this.#epoch;
    return loaded;
  }

  /** Crash points: before the append, and after it, before anybody is answered. */
  async #append(batch: SessionBatch, crash: () => void): Promise<Appended> {
    for (let wait = this.random.below(3); wait > 0; wait -= 1) await tick();
    const fails = this.random.chance(this.failing);
    const dies = fails && this.random.chance(0.5);
    if (fails && this.random.chance(0.5)) {
      if (dies) crash();
      throw new AppError("timeout", "lost on the way");
    }
    const before = this.record.read(SESSION_ID).events.length;
    const appending = this.#written.append(batch);
    const landed = this.record.read(SESSION_ID).events.length - before;
    let appended: Appended;
    try {
      appended = await appending;
    } catch (error) {
      if (isAppError(error, "stale_epoch")) this.refused += 1;
      throw error;
    }
    // One that landed before, and whose answer got lost, is not written again.
    if (batch.events.length === 0 || landed > 0) this.#durable(batch);
    if (dies) crash();
    if (!fails) return appended;
    // The answer got lost; whoever tries again must not write twice.
    if (this.random.chance(0.5)) throw new AppError("timeout", "answer lost");
    return this.#append(batch, crash);
  }

  #durable(batch: SessionBatch): void {
    this.#events += batch.events.length;
    this.check(() => this.model.take(structuredClone(batch)));
  }

  #diesBeforeEffects(crash: () => void): boolean {
    const dies = this.random.chance(this.failing / 4);
    if (dies) crash();
    return dies;
  }

  #crash(host: Host): void {
    this.crashes += 1;
    void this.lose(host);
  }

  check(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.fault ??= error as Error;
    }
  }

  frames(sequence: number): number {
    return this.stored.get(sequence) ?? 0;
  }

  readable() {
    const places = new Map<number, { sequence: number; start: number; length: number }>();
    for (const { event } of this.record.read(SESSION_ID).events) {
      if (event.type === "ChunkFailed") places.delete(event.sequence);
      if (event.type !== "ChunkPlaced" && event.type !== "GapFilled") continue;
      const { sequence, start, length } = event;
      if (length > 0) places.set(sequence, { sequence, start, length });
    }
    return [...places.values()].sort((a, b) => a.start - b.start);
  }

  /** True when it was carried out or refused for good; false when it must be sent again. */
  async send(host: Host, command: SessionCommand, commandId: string): Promise<boolean> {
    try {
      await host.deliver(SESSION_ID, structuredClone(command), commandId);
    } catch (error) {
      return isAppError(error) && !error.retryable;
    }
    const { finished } = this.record.read(SESSION_ID);
    this.check(() => {
      if (!finished.has(commandId))
        throw new Error(`${commandId} was answered, and is not durable`);
    });
    return true;
  }

  /** Ends the activation on a host as a lost lease, or its death, does. */
  async lose(host: Host): Promise<void> {
    const lost = host.lose(partitionOf(SESSION_ID));
    host.own(partitionOf(SESSION_ID));
    await lost;
  }

  /** Gives the session up in good order, with a snapshot. */
  async release(host: Host): Promise<void> {
    const released = host.release(partitionOf(SESSION_ID));
    host.own(partitionOf(SESSION_ID));
    await released;
  }

  async settle(rounds = 20): Promise<void> {
    for (let n = 0; n < rounds; n += 1) await tick();
  }

  /** The state as all events give it. */
  replayed(): SessionState {
    const state = sessionBehaviour.initial(SESSION_ID);
    for (const { event, at } of this.record.read(SESSION_ID).events) {
      sessionBehaviour.apply(state, event, at);
    }
    return state;
  }

  /** The state as the next activation would load it. */
  async loaded(): Promise<SessionState> {
    const { snapshot, events = [] } = (await this.record.activate(SESSION_ID)) ?? {};
    const state = snapshot?.state ?? sessionBehaviour.initial(SESSION_ID);
    for (const { event, at } of events) sessionBehaviour.apply(state, event, at);
    return state;
  }
}

function ownAll(host: Host): void {
  for (let partition = 0; partition < PARTITIONS; partition += 1) host.own(partition);
}
