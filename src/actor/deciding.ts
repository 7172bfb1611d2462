import { AppError, isAppError, toAppError } from "../base/errors.ts";
import type { Behaviour } from "./actor.ts";
import type { CommandOutcome, Outcome, Outcomes, Recorded } from "./journal.ts";

export interface Message<C> {
  command: C;
  /** Set when it came from outside: its outbox row is deleted with the append. */
  commandId?: string;
  /** The record's time, Unix milliseconds, after which it must not be carried out. */
  deadline?: number | undefined;
  resolve?(value: unknown): void;
  reject?(error: AppError): void;
}

/** The result of a turn. */
export interface Decided<E, W> {
  events: Recorded<E>[];
  writes: W[];
  commandIds: string[];
  outcomes: CommandOutcome[];
  /** The earliest deadline of the decided commands, the record's time, Unix milliseconds. */
  deadline: number | undefined;
  /** Must be called when the result is durable. */
  answers: (() => void)[];
  /**
   * Set when a command of the actor's own effects could not be decided: the effects must start
   * again.
   */
  fault: AppError | undefined;
}

interface Draft<S> {
  state: S;
  /** Seq of the newest event in `state`. */
  seq: number;
  /** The record's time, Unix milliseconds. */
  now: number;
}

/** Thrown when a command could not be decided; the state may be partly changed. */
export class Undecidable extends Error {
  override name = "Undecidable";
}

type Decider<S, E, W, C> = Pick<Behaviour<S, E, W, C>, "decide" | "isRepeatable">;

/** Decides the commands of a turn one after the other; repeated ones are only answered. */
export class Deciding<S, E, W, C> {
  readonly #behaviour: Decider<S, E, W, C>;
  readonly #outcomes: Outcomes;
  readonly #seq: number;
  readonly #now: number;
  readonly decided: Decided<E, W> = {
    events: [],
    writes: [],
    commandIds: [],
    outcomes: [],
    deadline: undefined,
    answers: [],
    fault: undefined,
  };

  constructor(
    behaviour: Decider<S, E, W, C>,
    outcomes: Outcomes,
    { seq, now }: Omit<Draft<S>, "state">,
  ) {
    this.#behaviour = behaviour;
    this.#outcomes = outcomes;
    this.#seq = seq;
    this.#now = now;
  }

  /** Decides on `state` itself. Throws `Undecidable` when a command fails unexpectedly. */
  inPlace(state: S, batch: readonly Message<C>[]): Decided<E, W> {
    for (const message of batch) {
      const outcome = this.#outcomeOf(state, message);
      this.#answer(message, outcome);
    }
    return this.decided;
  }

  /**
   * Decides each command on a copy of the state, which costs more, so that one that fails does not
   * affect the others. Returns the resulting state.
   */
  apart(state: S, batch: readonly Message<C>[]): { state: S; decided: Decided<E, W> } {
    let current = state;
    for (const message of batch) {
      const copy = structuredClone(current);
      try {
        this.#answer(message, this.#outcomeOf(copy, message));
        current = copy;
      } catch (error) {
        this.#fail(message, toAppError(error instanceof Undecidable ? error.cause : error));
      }
    }
    return { state: current, decided: this.decided };
  }

  #answer(message: Message<C>, outcome: Outcome): void {
    this.decided.answers.push(() => answer(message, outcome));
  }

  /**
   * Rejects a command. One from outside stays in the outbox; one of the actor's own effects is not
   * repeated, so it becomes a fault.
   */
  #fail(message: Message<C>, error: AppError): void {
    if (message.commandId === undefined) this.decided.fault ??= error;
    this.decided.answers.push(() => message.reject?.(error));
  }

  #outcomeOf(state: S, message: Message<C>): Outcome {
    return this.#known(message) ?? this.#late(message) ?? this.#decide(state, message);
  }

  /** The outcome of a repeated command, in this turn or in an earlier one. */
  #known({ commandId }: Message<C>): Outcome | undefined {
    if (commandId === undefined) return undefined;
    const known = this.#outcomes.get(commandId);
    return known ?? this.decided.outcomes.find((each) => each.commandId === commandId)?.outcome;
  }

  /**
   * The refusal of a command whose deadline has passed. It is not stored, because a new attempt has
   * another deadline.
   */
  #late({ deadline }: Message<C>): Outcome | undefined {
    if (deadline === undefined || this.#now < deadline) return undefined;
    return { ok: false, code: "too_late", message: "There was no time left to do this." };
  }

  #decide(state: S, message: Message<C>): Outcome {
    const { command, commandId, deadline } = message;
    let outcome: Outcome;
    try {
      outcome = { ok: true, value: this.#carryOut(state, command) };
    } catch (error) {
      if (!isAppError(error) || error.code === "internal") {
        throw new Undecidable("A command could not be decided.", { cause: error });
      }
      outcome = { ok: false, code: error.code, message: error.message };
      // A command that came too early stays in the outbox and is sent again.
      if (error.retryable) return outcome;
    }
    if (deadline !== undefined) {
      this.decided.deadline = Math.min(this.decided.deadline ?? deadline, deadline);
    }
    if (commandId === undefined) return outcome;
    this.decided.commandIds.push(commandId);
    if (!this.#behaviour.isRepeatable(command)) {
      this.decided.outcomes.push({ commandId, outcome });
    }
    return outcome;
  }

  #carryOut(state: S, command: C): unknown {
    const { events, writes, reply } = this.#behaviour.decide(state, command, this.#now);
    for (const event of events) {
      const seq = this.#seq + this.decided.events.length + 1;
      this.decided.events.push({ seq, at: this.#now, event });
    }
    this.decided.writes.push(...writes);
    return reply;
  }
}

function answer<C>(message: Message<C>, outcome: Outcome): void {
  if (outcome.ok) message.resolve?.(outcome.value);
  else message.reject?.(new AppError(outcome.code, outcome.message));
}
