import { AppError, isAppError, toAppError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Runtime, Timer } from "../base/runtime.ts";
import type { Behaviour, Companion, CompanionContext } from "./behaviour.ts";
import type { Journal, Recorded } from "./journal.ts";
import { Mailbox } from "./mailbox.ts";
import { type CommandOutcome, type Outcome, Outcomes } from "./outcomes.ts";

/** Wait before the record is asked again, milliseconds. */
const PUT_OFF = 1_000;

/**
 * One actor in memory.
 *
 * starting ─load─▶ active ─drain─▶ draining ─▶ stopped
 *     └──────────────┴────failure──────────────▶ stopped (failed)
 *
 * A turn takes a batch of commands, decides them one after the other on the
 * state in memory, appends their events once, and only then answers and starts
 * effects. When the append fails for good the state is ahead of the record, so
 * the activation fails and the next one loads what is true.
 */
export class Activation<S, E, W, C> {
  readonly id: string;
  readonly #parts: ActivationParts<S, E, W, C>;
  readonly #mailbox: Mailbox<Message<C>>;
  readonly #log: Log;
  readonly #outcomes = new Outcomes();
  #phase: "starting" | "active" | "draining" | "stopped" = "starting";
  #state: S | undefined;
  #epoch = 0;
  #seq = 0;
  #snapshotSeq = 0;
  #companion: Companion<S, E, W> | undefined;
  #pumping: Promise<void> | undefined;
  #timer: Timer | undefined;
  #lastActive: number;

  constructor(id: string, parts: ActivationParts<S, E, W, C>) {
    this.id = id;
    this.#parts = parts;
    this.#mailbox = new Mailbox(parts.mailboxCapacity);
    this.#log = parts.log.child({ session_id: id });
    this.#lastActive = parts.runtime.monotonic();
  }

  get phase(): string {
    return this.#phase;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** What waits in each lane of its mailbox. */
  get waiting(): { control: number; requests: number } {
    return this.#mailbox.lengths;
  }

  /** Milliseconds without anything to do; 0 while effects or timers are open. */
  idleFor(): number {
    if (this.#phase !== "active" || this.#pumping !== undefined || this.#mailbox.size > 0) return 0;
    if (this.#timer !== undefined || this.#companion?.busy()) return 0;
    return this.#parts.runtime.monotonic() - this.#lastActive;
  }

  /** Takes the actor over and loads it. False when there is no such actor. */
  async start(): Promise<boolean> {
    const { journal, behaviour, createCompanion } = this.#parts;
    const loaded = await journal.activate(this.id);
    if (loaded === undefined) {
      this.#phase = "stopped";
      return false;
    }
    const state =
      loaded.snapshot === undefined
        ? behaviour.initial(this.id)
        : behaviour.upgrade(loaded.snapshot.version, loaded.snapshot.state);
    for (const { event, at } of loaded.events) behaviour.apply(state, event, at);
    this.#state = state;
    this.#epoch = loaded.epoch;
    this.#seq = loaded.seq;
    this.#snapshotSeq = loaded.snapshot?.seq ?? 0;
    this.#outcomes.add(loaded.outcomes);
    this.#companion = createCompanion({
      id: this.id,
      epoch: loaded.epoch,
      tell: (command) => this.tell(command),
    });
    this.#phase = "active";
    this.#log.debug({ epoch: this.#epoch, seq: this.#seq }, "activated");
    this.#companion.start(state, this.#seq);
    this.#arm();
    this.#pump();
    return true;
  }

  /** Queues a command; settles after its events are durable. Rejects `overloaded` when full. */
  ask(command: C, commandId: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const message: Message<C> = { command, commandId, resolve, reject };
      if (this.#phase === "draining" || this.#phase === "stopped") {
        reject(new AppError("lease_lost", "This session is moving to another host."));
      } else if (!this.#mailbox.offer(message, false)) {
        this.#parts.onRefused("requests");
        reject(new AppError("overloaded", "This session has too much to do just now."));
      } else {
        this.#pump();
      }
    });
  }

  /** Queues a command of its own effects or timers. */
  tell(command: C): boolean {
    if (this.#phase === "stopped") return false;
    const queued = this.#mailbox.offer({ command }, true);
    if (queued) this.#pump();
    else this.#parts.onRefused("control");
    return queued;
  }

  /** Finishes the turn in hand, keeps a snapshot, ends the effects. Queued commands are handed back. */
  async drain(): Promise<void> {
    if (this.#phase !== "active") return this.stop();
    this.#phase = "draining";
    await this.#pumping;
    // A turn that failed meanwhile left the state ahead of the record: no snapshot of that.
    if (this.#isDraining() && this.#state !== undefined && this.#seq > this.#snapshotSeq) {
      const nothing = { events: [], writes: [], commandIds: [], outcomes: [] };
      await this.#append(nothing, true).catch((error: unknown) => {
        this.#log.warn({ error: toAppError(error).message }, "no snapshot at passivation");
      });
    }
    await this.stop();
  }

  // A method, because the phase changes while others are awaited.
  #isDraining(): boolean {
    return this.#phase === "draining";
  }

  /** Ends at once: what is queued is rejected, a turn in hand is fenced by the journal. */
  async stop(error?: AppError): Promise<void> {
    if (this.#phase === "stopped") return;
    this.#phase = "stopped";
    this.#timer?.cancel();
    this.#timer = undefined;
    const reason = error ?? new AppError("lease_lost", "This session is moving to another host.");
    for (const message of this.#mailbox.drain()) message.reject?.(reason);
    await this.#companion?.stop();
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
    // One microtask later, so that what was queued together is decided together.
    await Promise.resolve();
    while (this.#phase === "active") {
      const batch = this.#mailbox.take(this.#parts.batchSize);
      if (batch.length === 0) break;
      try {
        await this.#turn(state, batch);
      } catch (error) {
        await this.#fail(toAppError(error), batch);
      }
    }
    this.#lastActive = this.#parts.runtime.monotonic();
    if (this.#phase === "active") this.#arm();
  }

  async #turn(state: S, batch: Message<C>[]): Promise<void> {
    const decided = this.#decide(state, batch);
    const { events, writes, commandIds, outcomes } = decided;
    if (events.length + writes.length + commandIds.length > 0) await this.#append(decided);
    this.#outcomes.add(outcomes);
    for (const answer of decided.answers) answer();
    if (events.length + writes.length > 0 && this.#companion !== undefined) {
      this.#companion.after({ state, events, writes });
    }
  }

  #decide(state: S, batch: readonly Message<C>[]): Decided<E, W> {
    const now = this.#parts.runtime.now();
    const decided: Decided<E, W> = {
      events: [],
      writes: [],
      commandIds: [],
      outcomes: [],
      answers: [],
    };
    for (const message of batch) {
      const outcome =
        this.#known(message, decided) ?? this.#decideOne(state, message, now, decided);
      decided.answers.push(() => answer(message, outcome));
    }
    return decided;
  }

  /** Of a command that came before, in this turn or in an earlier one. */
  #known({ commandId }: Message<C>, { outcomes }: Decided<E, W>): Outcome | undefined {
    if (commandId === undefined) return undefined;
    const known = this.#outcomes.get(commandId);
    return known ?? outcomes.find((each) => each.commandId === commandId)?.outcome;
  }

  #decideOne(state: S, message: Message<C>, now: number, decided: Decided<E, W>): Outcome {
    const { behaviour } = this.#parts;
    const { command, commandId } = message;
    let outcome: Outcome;
    try {
      const { events, writes, reply } = behaviour.decide(state, command, now);
      for (const event of events) {
        decided.events.push({ seq: this.#seq + decided.events.length + 1, at: now, event });
      }
      decided.writes.push(...writes);
      outcome = { ok: true, value: reply };
    } catch (error) {
      if (!isAppError(error)) throw error;
      outcome = { ok: false, code: error.code, message: error.message };
      // What came too early stays on record as not carried out, and comes again.
      if (error.retryable) return outcome;
    }
    if (commandId === undefined) return outcome;
    decided.commandIds.push(commandId);
    if (!behaviour.isRepeatable(command)) decided.outcomes.push({ commandId, outcome });
    return outcome;
  }

  async #append(
    { events, writes, commandIds, outcomes }: Omit<Decided<E, W>, "answers">,
    snapshot = false,
  ): Promise<void> {
    const { journal, behaviour, snapshotEvery } = this.#parts;
    const seq = this.#seq + events.length;
    const keep = snapshot || seq - this.#snapshotSeq >= snapshotEvery;
    const batch = {
      id: this.id,
      epoch: this.#epoch,
      expectedSeq: this.#seq,
      events,
      writes,
      commandIds,
      outcomes,
      ...(keep && this.#state !== undefined
        ? { snapshot: { version: behaviour.snapshotVersion, state: this.#state } }
        : {}),
    };
    await this.#retrying(() => journal.append(batch));
    this.#seq = seq;
    if (keep) this.#snapshotSeq = seq;
  }

  /** An outage is sat out for a while; a commit whose answer was lost shows as `stale_epoch`. */
  async #retrying(work: () => Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        const again = isAppError(error, "unavailable") || isAppError(error, "storage_full");
        if (!again || attempt >= this.#parts.appendAttempts || this.#phase === "stopped")
          throw error;
        this.#log.warn({ attempt, code: error.code }, "journal away, trying again");
        await this.#parts.runtime.delay(Math.min(2_000, 100 * 2 ** attempt));
      }
    }
  }

  async #fail(error: AppError, batch: Message<C>[]): Promise<void> {
    const fields = { code: error.code, error: error.message, cause: String(error.cause ?? "") };
    if (error.code === "internal") this.#log.error(fields, "activation failed");
    else this.#log.warn(fields, "activation ended");
    for (const message of batch) message.reject?.(error);
    await this.stop(error);
    this.#parts.onFailed(this.id, error);
  }

  #arm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#state === undefined) return;
    const deadline = this.#parts.behaviour.deadline(this.#state);
    if (deadline === undefined) return;
    const wait = Math.max(0, deadline.at - this.#parts.runtime.now());
    this.#timer = this.#parts.runtime.after(wait, () => void this.#expire(deadline.command));
  }

  /**
   * A deadline is about what did not come: what came, and is still on its way from the record, goes
   * before. While the record cannot be asked, nothing is known to be missing.
   */
  async #expire(command: C): Promise<void> {
    const timer = this.#timer;
    try {
      const outstanding = (await this.#parts.outstanding?.(this.id)) ?? [];
      // One that is refused is none of the deadline's business.
      await Promise.allSettled(outstanding.map((each) => this.ask(each.command, each.id)));
    } catch (error) {
      this.#log.warn({ error: toAppError(error).message }, "deadline put off");
      if (this.#timer !== timer || this.#phase === "stopped") return;
      this.#timer = this.#parts.runtime.after(PUT_OFF, () => void this.#expire(command));
      return;
    }
    if (this.#timer === timer) this.#timer = undefined;
    this.tell(command);
  }
}

export interface ActivationParts<S, E, W, C> {
  behaviour: Behaviour<S, E, W, C>;
  journal: Journal<S, E, W>;
  createCompanion(context: CompanionContext<C>): Companion<S, E, W>;
  runtime: Runtime;
  log: Log;
  /** Commands per lane. */
  mailboxCapacity: number;
  /** Commands per turn. */
  batchSize: number;
  /** Events between snapshots. */
  snapshotEvery: number;
  appendAttempts: number;
  /** Commands for the actor that the record holds and that nobody finished. */
  outstanding?(id: string): Promise<{ id: string; command: C }[]>;
  onFailed(id: string, error: AppError): void;
  /** A lane of the mailbox was full. */
  onRefused(lane: "control" | "requests"): void;
}

/** What a turn comes to. */
interface Decided<E, W> {
  events: Recorded<E>[];
  writes: W[];
  commandIds: string[];
  outcomes: CommandOutcome[];
  /** To be called when all of it is durable. */
  answers: (() => void)[];
}

function answer<C>(message: Message<C>, outcome: Outcome): void {
  if (outcome.ok) message.resolve?.(outcome.value);
  else message.reject?.(new AppError(outcome.code, outcome.message));
}

interface Message<C> {
  command: C;
  /** Set when it came from outside: its outbox row goes with the append. */
  commandId?: string;
  resolve?(value: unknown): void;
  reject?(error: AppError): void;
}
