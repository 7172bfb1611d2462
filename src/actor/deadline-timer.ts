import { isAppError, toAppError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Runtime, Timer } from "../base/runtime.ts";
import type { Deadline } from "./actor.ts";

/** Wait before the record is asked again, milliseconds. */
const PUT_OFF = 1_000;

interface DeadlineTimerOptions<C> {
  runtime: Runtime;
  log: Log;
  /** The record's time. */
  now(): number;
  /** Commands for the actor that the record holds and that nobody finished. */
  outstanding(): Promise<readonly { id: string; command: C }[]>;
  /** The command of a deadline, with what only the record knows; asked after `outstanding`. */
  informed(command: C): Promise<C>;
  ask(command: C, id: string): Promise<unknown>;
  tell(command: C): unknown;
}

/**
 * Sends an actor the command of its deadline when that has come. A deadline is about what did not
 * come: what came, and is still on its way from the record, goes before. While the record cannot be
 * asked, nothing is known to be missing.
 */
export class DeadlineTimer<C> {
  readonly #options: DeadlineTimerOptions<C>;
  #timer: Timer | undefined;
  /** The deadline that was sent last, and until when it rests. */
  #sent: { command: string; restsUntil: number } | undefined;

  constructor(options: DeadlineTimerOptions<C>) {
    this.#options = options;
  }

  get isSet(): boolean {
    return this.#timer !== undefined;
  }

  /** In place of the one before. */
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
    const { outstanding, informed, ask, tell, runtime, log } = this.#options;
    let { command } = deadline;
    const timer = this.#timer;
    try {
      const asked = (await outstanding()).map((each) => ask(each.command, each.id));
      for (const each of await Promise.allSettled(asked)) {
        // One that is refused for good is none of the deadline's business.
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
    tell(command);
  }
}

/** What was refused, as too much waited, may be what the deadline is about. */
function isPassing(error: unknown): boolean {
  return isAppError(error) && error.retryable;
}
