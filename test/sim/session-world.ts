import type { Companion, CompanionContext, DurableTurn } from "../../src/actor/behaviour.ts";
import { ActorHost } from "../../src/actor/host.ts";
import type { Batch, Journal } from "../../src/actor/journal.ts";
import { AppError, isAppError } from "../../src/base/errors.ts";
import { silentLog } from "../../src/base/log.ts";
import { PARTITIONS } from "../../src/base/partition.ts";
import { sessionBehaviour } from "../../src/session/behaviour.ts";
import type { SessionCommand } from "../../src/session/command.ts";
import type { SessionEvent } from "../../src/session/event.ts";
import type { SessionState } from "../../src/session/state.ts";
import type { SessionWrite } from "../../src/session/write.ts";
import { MemoryJournal } from "../support/memory/memory-journal.ts";
import type { SeededRandom } from "../support/seeded-random.ts";

type Host = ActorHost<SessionState, SessionEvent, SessionWrite, SessionCommand>;
type SessionBatch = Batch<SessionState, SessionEvent, SessionWrite>;
type SessionTurn = DurableTurn<SessionState, SessionEvent, SessionWrite>;

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The journal, but appends may fail before or after they took effect. */
class ShakyJournal implements Journal<SessionState, SessionEvent, SessionWrite> {
  readonly inner = new MemoryJournal<SessionState, SessionEvent, SessionWrite>();
  readonly #random: SeededRandom;
  failing = 0;
  refused = 0;

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  async activate(id: string) {
    for (let wait = this.#random.below(3); wait > 0; wait -= 1) await tick();
    return this.inner.activate(id);
  }

  async append(batch: SessionBatch): Promise<void> {
    for (let wait = this.#random.below(3); wait > 0; wait -= 1) await tick();
    const fails = this.#random.chance(this.failing);
    if (fails && this.#random.chance(0.5)) throw new AppError("timeout", "lost on the way");
    try {
      await this.inner.append(batch);
    } catch (error) {
      if (isAppError(error, "stale_epoch")) this.refused += 1;
      throw error;
    }
    // Committed, but the answer got lost: the worst case.
    if (fails) throw new AppError("timeout", "answer lost");
  }
}

/** Reads each placed chunk as one utterance, late and for stale activations too. */
class ScriptedReader implements Companion<SessionState, SessionEvent, SessionWrite> {
  readonly #context: CompanionContext<SessionCommand>;
  readonly #random: SeededRandom;
  #reading = false;
  #stopped = false;
  #state: Readonly<SessionState> | undefined;

  constructor(context: CompanionContext<SessionCommand>, random: SeededRandom) {
    this.#context = context;
    this.#random = random;
  }

  start(state: Readonly<SessionState>): void {
    this.#state = state;
    void this.#read();
  }

  after(turn: SessionTurn): void {
    this.#state = turn.state;
    void this.#read();
  }

  busy(): boolean {
    return this.#reading;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
  }

  async #read(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    for (;;) {
      for (let wait = this.#random.below(4); wait > 0; wait -= 1) await tick();
      const command = this.#next();
      // A stopped reader answers late now and then: it must not matter.
      if (command === undefined || (this.#stopped && this.#random.chance(0.7))) break;
      if (!this.#context.tell(command)) break;
      await tick();
    }
    this.#reading = false;
  }

  #next(): SessionCommand | undefined {
    const state = this.#state;
    if (state === undefined || state.phase === "completed") return undefined;
    const entry = state.timeline.open[0];
    const none = new Uint8Array();
    if (entry === undefined) {
      const all = state.stop !== undefined && state.timeline.next > state.stop.lastSequence;
      if (!all || state.timeline.position === 0) return undefined;
      return { type: "RecognitionDone", attempt: 1, speakers: { segments: [], merges: [] } };
    }
    const { start, length, sequence } = entry;
    const end = start + length;
    return {
      type: "Utterance",
      attempt: 1,
      segments: [
        {
          start,
          end,
          words: [{ text: `chunk${sequence}`, start, end, confidence: 1 }],
          confidence: 1,
          cluster: sequence % 3,
        },
      ],
      checkpoint: { position: end, recogniser: none, speakers: none },
      revised: { segments: [], merges: [] },
      finalisedTo: end,
    };
  }
}

/** Several hosts that all believe to own everything, over one shaky journal. */
export class SessionWorld {
  readonly journal: ShakyJournal;
  readonly hosts: Host[];
  readonly id = "01900000-0000-7000-8000-000000000001";
  now = 1_700_000_000_000;

  constructor(random: SeededRandom, hosts: number) {
    this.journal = new ShakyJournal(random);
    this.journal.inner.create(this.id);
    this.hosts = Array.from({ length: hosts }, () => this.#host(random));
  }

  #host(random: SeededRandom): Host {
    const host: Host = new ActorHost({
      activation: {
        behaviour: sessionBehaviour,
        journal: this.journal,
        createCompanion: (context: CompanionContext<SessionCommand>) =>
          new ScriptedReader(context, random),
        clock: { now: () => this.now, monotonic: () => this.now },
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
    for (let partition = 0; partition < PARTITIONS; partition += 1) host.own(partition);
    return host;
  }

  /** True when it was carried out or refused for good; false when it must be sent again. */
  async send(host: Host, command: SessionCommand, commandId: string): Promise<boolean> {
    try {
      await host.deliver(this.id, command, commandId);
      return true;
    } catch (error) {
      return isAppError(error) && !error.retryable;
    }
  }

  /** Ends the activation on a host as a lost lease does. */
  async lose(host: Host): Promise<void> {
    for (const partition of host.owned) await host.lose(partition);
    for (let partition = 0; partition < PARTITIONS; partition += 1) host.own(partition);
  }

  async settle(rounds = 50): Promise<void> {
    for (let n = 0; n < rounds; n += 1) await tick();
  }

  /** The state as the journal alone gives it. */
  replayed(): SessionState {
    const state = sessionBehaviour.initial(this.id);
    for (const { event, at } of this.journal.inner.read(this.id).events) {
      sessionBehaviour.apply(state, event, at);
    }
    return state;
  }
}
