import { AppError, isAppError, toAppError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Runtime } from "../base/runtime.ts";
import type { Behaviour, Effects, EffectsContext } from "./actor.ts";
import { DeadlineTimer } from "./deadline-timer.ts";
import { type Decided, Deciding, type Message, Undecidable } from "./deciding.ts";
import { type Journal, Outcomes, RecordClock } from "./journal.ts";
import { become, stateOf } from "./loading.ts";
import { Mailbox } from "./mailbox.ts";

/** Wait before the host's lease is checked again, milliseconds. */
const RIGHT_PAUSE = 50;
const NOTHING = { events: [], writes: [], commandIds: [], outcomes: [], deadline: undefined };

/**
 * One actor in memory.
 *
 * starting ─load─▶ active ─drain─▶ draining ─▶ stopped
 *     └──────────────┴────failure──────────────▶ stopped (failed)
 *
 * A turn takes a batch of commands, decides them one after the other on the state in memory,
 * appends their events once, and only then answers and starts effects. When the append fails for
 * good, the state is ahead of the record, so the activation fails and the next one loads the
 * recorded state. When a single command is at fault, the recorded state is loaded at once, and the
 * other commands are decided without it.
 */
export class Activation<S, E, W, C> {
  readonly id: string;
  readonly #options: ActivationOptions<S, E, W, C>;
  readonly #mailbox: Mailbox<Message<C>>;
  readonly #log: Log;
  readonly #outcomes = new Outcomes();
  /** Decisions use the record's time. */
  readonly #clock: RecordClock;
  #phase: "starting" | "active" | "draining" | "stopped" = "starting";
  #state: S | undefined;
  #epoch = 0;
  #seq = 0;
  #snapshotSeq = 0;
  /** The value of `hasWork` on record. */
  #reportedWork = false;
  #effects: readonly Effects<S, E, W>[] = [];
  #pumping: Promise<void> | undefined;
  readonly #deadline: DeadlineTimer<C>;
  #lastActive: number;

  constructor(id: string, options: ActivationOptions<S, E, W, C>) {
    this.id = id;
    this.#options = options;
    this.#mailbox = new Mailbox(options.mailboxCapacity);
    this.#log = options.log.child({ session_id: id });
    this.#clock = new RecordClock(options.runtime);
    const { runtime, outstanding, informed } = options;
    this.#deadline = new DeadlineTimer({
      runtime,
      log: this.#log,
      now: () => this.#clock.now(),
      outstanding: async () => (await outstanding?.(id)) ?? [],
      informed: async (command) => (await informed?.(id, command)) ?? command,
      ask: (command, commandId) => this.ask(command, commandId),
      send: (command) => this.send(command),
    });
    this.#lastActive = options.runtime.monotonic();
  }

  get phase(): string {
    return this.#phase;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** The number of messages in each lane of the mailbox. */
  get waiting(): { control: number; requests: number } {
    return this.#mailbox.lengths;
  }

  /** Milliseconds since the last activity; 0 while effects or timers are open. */
  idleFor(): number {
    if (this.#phase !== "active" || this.#pumping !== undefined || this.#mailbox.size > 0) return 0;
    if (this.#deadline.isSet || this.#effects.some((each) => each.busy())) return 0;
    return this.#options.runtime.monotonic() - this.#lastActive;
  }

  /** Takes over the actor and loads it. False when the actor does not exist. */
  async start(): Promise<boolean> {
    const { journal, createEffects } = this.#options;
    const loaded = await this.#hear(() => journal.activate(this.id));
    if (loaded === undefined) {
      this.#phase = "stopped";
      return false;
    }
    const state = await stateOf({ id: this.id, ...this.#options, log: this.#log }, loaded);
    this.#state = state;
    this.#epoch = loaded.epoch;
    this.#seq = loaded.seq;
    this.#snapshotSeq = loaded.snapshot?.seq ?? 0;
    this.#outcomes.add(loaded.outcomes);
    this.#reportedWork = loaded.hasWork;
    if (this.#workToReport(0) !== undefined) await this.#append(NOTHING);
    this.#effects = createEffects({
      id: this.id,
      epoch: loaded.epoch,
      send: (command) => this.send(command),
    });
    this.#phase = "active";
    this.#log.debug({ epoch: this.#epoch, seq: this.#seq }, "activated");
    for (const each of this.#effects) each.start(state, this.#seq);
    this.#arm();
    this.#pump();
    return true;
  }

  /**
   * Queues a command; settles after its events are durable. Rejects with `overloaded` when the
   * mailbox is full, with `lease_lost` when the activation ends, and with `too_late` when it was
   * not carried out by `deadline` (the record's time, Unix milliseconds).
   */
  ask(command: C, commandId: string, deadline?: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const message: Message<C> = { command, commandId, deadline, resolve, reject };
      if (this.#phase === "draining" || this.#phase === "stopped") {
        reject(new AppError("lease_lost", "This session is moving to another host."));
      } else if (!this.#mailbox.offer(message, false)) {
        this.#options.onRefused("requests");
        reject(new AppError("overloaded", "This session has too much to do just now."));
      } else {
        this.#pump();
      }
    });
  }

  /**
   * Queues a command of the actor's own effects or timers. False when the mailbox is full or the
   * activation has stopped.
   */
  send(command: C): boolean {
    if (this.#phase === "stopped") return false;
    const queued = this.#mailbox.offer({ command }, true);
    if (queued) this.#pump();
    else this.#options.onRefused("control");
    return queued;
  }

  /**
   * Finishes the current turn, stores a snapshot and stops the effects. Queued commands are
   * rejected with `lease_lost`.
   */
  async drain(): Promise<void> {
    if (this.#phase !== "active") return this.stop();
    this.#phase = "draining";
    await this.#pumping;
    // A turn that failed meanwhile left the state ahead of the record; it must not become a
    // snapshot.
    if (this.#isDraining() && this.#state !== undefined && this.#seq > this.#snapshotSeq) {
      await this.#append(NOTHING, true).catch((thrown: unknown) => {
        const error = toAppError(thrown);
        this.#log.warn({ error: error.message }, "no snapshot at passivation");
        if (error.code === "stale_epoch") this.#options.onFailed(this.id, error);
      });
    }
    await this.stop();
  }

  // A method, because the phase changes while others are awaited.
  #isDraining(): boolean {
    return this.#phase === "draining";
  }

  /** Ends at once: queued commands are rejected; the journal fences a turn that is under way. */
  async stop(error?: AppError): Promise<void> {
    if (this.#phase === "stopped") return;
    this.#phase = "stopped";
    this.#deadline.cancel();
    const reason = error ?? new AppError("lease_lost", "This session is moving to another host.");
    for (const message of this.#mailbox.drain()) message.reject?.(reason);
    await Promise.all(this.#effects.map((each) => each.stop()));
  }

  #pump(): void {
    if (this.#pumping !== undefined || this.#state === undefined || this.#phase !== "active")
      return;
    this.#pumping = this.#run(this.#state).finally(() => {
      this.#pumping = undefined;
      if (this.#mailbox.size > 0) this.#pump();
    });
  }

  async #run(state: S): Promise<void> {
    // Waits one microtask, so that commands that were queued together are decided together.
    await Promise.resolve();
    while (this.#phase === "active") {
      if (this.#options.hasRight?.() === false) {
        await this.#options.runtime.delay(RIGHT_PAUSE);
        continue;
      }
      const batch = this.#mailbox.take(this.#options.batchSize);
      if (batch.length === 0) break;
      try {
        await this.#turn(state, batch);
      } catch (error) {
        await this.#fail(toAppError(error), batch);
      }
    }
    this.#lastActive = this.#options.runtime.monotonic();
    if (this.#phase === "active") this.#arm();
  }

  async #turn(state: S, batch: Message<C>[]): Promise<void> {
    const decided = await this.#settle(state, batch);
    const { events, writes, outcomes, fault } = decided;
    this.#outcomes.add(outcomes);
    for (const answer of decided.answers) answer();
    if (events.length + writes.length > 0) {
      for (const each of this.#effects) each.after({ state, events, writes });
    }
    if (fault !== undefined) throw fault;
  }

  /** Decides a batch and appends the result, without the commands that cannot be carried out. */
  async #settle(state: S, batch: Message<C>[]): Promise<Decided<E, W>> {
    try {
      const decided = this.#deciding().inPlace(state, batch);
      await this.#keep(decided);
      return decided;
    } catch (error) {
      if (error instanceof Undecidable) this.#logUndecided(error);
      else if (!isAppError(error, "too_late")) throw error;
    }
    for (;;) {
      await this.#restore(state);
      const { decided, ...apart } = this.#deciding().apart(state, batch);
      become(state, apart.state);
      try {
        await this.#keep(decided);
        return decided;
      } catch (error) {
        // Each time one more deadline has passed.
        if (!isAppError(error, "too_late")) throw error;
      }
    }
  }

  #deciding(): Deciding<S, E, W, C> {
    const at = { seq: this.#seq, now: this.#clock.now() };
    return new Deciding(this.#options.behaviour, this.#outcomes, at);
  }

  #logUndecided({ cause }: Undecidable): void {
    const error = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
    this.#log.error({ error }, "a command could not be decided");
  }

  async #keep(decided: Decided<E, W>): Promise<void> {
    const { events, writes, commandIds } = decided;
    if (events.length + writes.length + commandIds.length > 0) await this.#append(decided);
  }

  /** Replaces the state in memory by the one on record. */
  async #restore(state: S): Promise<void> {
    const { journal } = this.#options;
    const loaded = await this.#retrying(() => this.#hear(() => journal.load(this.id, "snapshot")));
    if (loaded === undefined) throw new AppError("session_deleted", "This session was deleted.");
    if (loaded.epoch !== this.#epoch || loaded.seq !== this.#seq) {
      throw new AppError("stale_epoch", "Another activation of this session has taken over.");
    }
    become(state, await stateOf({ id: this.id, ...this.#options, log: this.#log }, loaded));
  }

  async #append(
    { events, writes, commandIds, outcomes, deadline }: Omit<Decided<E, W>, "answers" | "fault">,
    snapshot = false,
  ): Promise<void> {
    const { journal, behaviour, snapshotEvery } = this.#options;
    const seq = this.#seq + events.length;
    const keep = snapshot || seq - this.#snapshotSeq >= snapshotEvery;
    const hasWork = this.#workToReport(events.length);
    const batch = {
      id: this.id,
      epoch: this.#epoch,
      expectedSeq: this.#seq,
      events,
      writes,
      commandIds,
      outcomes,
      ...(deadline === undefined ? {} : { deadline }),
      ...(hasWork === undefined ? {} : { hasWork }),
      ...(keep && this.#state !== undefined
        ? { snapshot: { version: behaviour.snapshotVersion, state: behaviour.pack(this.#state) } }
        : {}),
    };
    await this.#retrying(() => this.#hear(() => journal.append(batch)));
    this.#seq = seq;
    if (keep) this.#snapshotSeq = seq;
    if (hasWork !== undefined) this.#reportedWork = hasWork;
  }

  /**
   * The value of `hasWork` to store: always with events, as they may have changed it; else only
   * when the record has another one.
   */
  #workToReport(events: number): boolean | undefined {
    if (this.#state === undefined) return undefined;
    const hasWork = this.#options.behaviour.hasWork(this.#state);
    return events > 0 || hasWork !== this.#reportedWork ? hasWork : undefined;
  }

  /** Sets the clock by the record's time, which every answer contains. */
  async #hear<T extends { now: number } | undefined>(ask: () => Promise<T>): Promise<T> {
    const askedAt = this.#options.runtime.monotonic();
    const answer = await ask();
    if (answer !== undefined) this.#clock.heard(answer.now, askedAt);
    return answer;
  }

  /**
   * Retries while storage is away or full, up to `appendAttempts` times. The journal does not write
   * a batch twice whose answer was lost.
   */
  async #retrying<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        const again = isAppError(error, "unavailable") || isAppError(error, "storage_full");
        if (!again || attempt >= this.#options.appendAttempts || this.#phase === "stopped")
          throw error;
        this.#log.warn({ attempt, code: error.code }, "journal away, trying again");
        await this.#options.runtime.delay(Math.min(2_000, 100 * 2 ** attempt));
      }
    }
  }

  async #fail(error: AppError, batch: Message<C>[]): Promise<void> {
    const fields = { code: error.code, error: error.message, cause: String(error.cause ?? "") };
    if (error.code === "internal") this.#log.error(fields, "activation failed");
    else this.#log.warn(fields, "activation ended");
    for (const message of batch) message.reject?.(error);
    await this.stop(error);
    this.#options.onFailed(this.id, error);
  }

  #arm(): void {
    if (this.#state !== undefined)
      this.#deadline.set(this.#options.behaviour.deadline(this.#state));
  }
}

export interface ActivationOptions<S, E, W, C> {
  behaviour: Behaviour<S, E, W, C>;
  journal: Journal<E, W>;
  /** The effects receive each turn in the order of this list. */
  createEffects(context: EffectsContext<C>): readonly Effects<S, E, W>[];
  runtime: Runtime;
  log: Log;
  /** Most commands per lane. */
  mailboxCapacity: number;
  /** Most commands per turn. */
  batchSize: number;
  /** Events between snapshots. */
  snapshotEvery: number;
  appendAttempts: number;
  /** Unfinished commands for the actor in the outbox. */
  outstanding?(id: string): Promise<{ id: string; command: C }[]>;
  /** Adds to the command of a deadline what only the record knows; called after `outstanding`. */
  informed?(id: string, command: C): Promise<C>;
  onFailed(id: string, error: AppError): void;
  /**
   * False when the host's lease has expired: then no turn begins. Queued commands continue when the
   * lease is renewed and no other host has taken over.
   */
  hasRight?(): boolean;
  /** Called when a lane of the mailbox is full. */
  onRefused(lane: "control" | "requests"): void;
}
