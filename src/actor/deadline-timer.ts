import { isAppError, toAppError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Runtime, Timer } from "../base/runtime.ts";
import type { Deadline } from "./actor.ts";

/**
 * Wait before an expired deadline is tried again when the record could not be asked, milliseconds.
 */
const PUT_OFF = 1_000;

interface DeadlineTimerOptions<C> {
  runtime: Runtime;
  log: Log;
  /** The record's time, Unix milliseconds. */
  now(): number;
  /** Unfinished commands for the actor in the outbox. */
  outstanding(): Promise<readonly { id: string; command: C }[]>;
  /** Adds to the command of a deadline what only the record knows; called after `outstanding`. */
  informed(command: C): Promise<C>;
  ask(command: C, id: string): Promise<unknown>;
  send(command: C): unknown;
}

/**
 * Sends an actor the command of its deadline when the deadline has come. A deadline concerns
 * something that did not arrive, so commands that wait in the outbox are carried out before it.
 * While these cannot be read, the deadline is put off.
 */
export class DeadlineTimer<C> {
  readonly #options: DeadlineTimerOptions<C>;
  #timer: Timer | undefined;
  /** The command that was sent last, and when it may be sent again, monotonic milliseconds. */
  #sent: { command: string; restsUntil: number } | undefined;

  constructor(options: DeadlineTimerOptions<C>) {
    this.#options = options;
  }

  get isSet(): boolean {
    return this.#timer !== undefined;
  }

  /** Replaces the deadline. */
  set(deadline: Deadline<C> | undefined): void {
    this.cancel();
    if (deadline === undefined) return;
    const wait = Math.max(0, deadline.at - this.#options.now(), this.#restOf(deadline));
    this.#timer = this.#options.runtime.after(wait, () => void this.#expire(deadline));
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #restOf({ command }: Deadline<C>): number {
    if (this.#sent?.command !== JSON.stringify(command)) return 0;
    return this.#sent.restsUntil - this.#options.runtime.monotonic();
  }

  async #expire(deadline: Deadline<C>): Promise<void> {
    const { outstanding, informed, ask, send, runtime, log } = this.#options;
    let { command } = deadline;
    const timer = this.#timer;
    try {
      const asked = (await outstanding()).map((each) => ask(each.command, each.id));
      for (const each of await Promise.allSettled(asked)) {
        // A command that is refused for good does not hold the deadline up.
        if (each.status === "rejected" && isPassing(each.reason)) throw each.reason;
      }
      command = await informed(command);
    } catch (error) {
      log.warn({ error: toAppError(error).message }, "deadline put off");
      if (this.#timer !== timer) return;
      this.#timer = runtime.after(PUT_OFF, () => void this.#expire(deadline));
      return;
    }
    if (this.#timer === timer) this.#timer = undefined;
    const restsUntil = runtime.monotonic() + deadline.again;
    this.#sent = { command: JSON.stringify(deadline.command), restsUntil };
    send(command);
  }
}

/**
 * True for a command that was refused for now, for example because too many waited: the deadline
 * may concern it.
 */
function isPassing(error: unknown): boolean {
  return isAppError(error) && error.retryable;
}
