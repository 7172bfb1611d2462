import type { Clock } from "./clock.ts";
import { errorMessage } from "./errors.ts";
import type { Log } from "./log.ts";

const DEEPEST = 5;

/**
 * Logs the state of something that is tried repeatedly: once when it fails, with its cause, and
 * once when it works again, with the duration. So an outage of an hour makes two log lines, not
 * thousands.
 */
export class TroubleLog {
  readonly #log: Log;
  readonly #message: string;
  readonly #clock: Pick<Clock, "monotonic">;
  #trouble: { error: string; since: number; failures: number } | undefined;

  /** @param message the failure, such as "jobs not readable" */
  constructor(log: Log, message: string, clock: Pick<Clock, "monotonic">) {
    this.#log = log;
    this.#message = message;
    this.#clock = clock;
  }

  /** Logs a failure; the same error is logged once, another error again. */
  failed(error: unknown): void {
    const text = errorMessage(error);
    const { since = this.#clock.monotonic(), failures = 0 } = this.#trouble ?? {};
    const isKnown = this.#trouble?.error === text;
    this.#trouble = { error: text, since, failures: failures + 1 };
    if (isKnown) return;
    const cause = causeOf(error);
    this.#log.warn({ error: text, ...(cause !== text && { cause }) }, this.#message);
  }

  worked(): void {
    if (this.#trouble === undefined) return;
    const { since, failures } = this.#trouble;
    this.#trouble = undefined;
    const seconds = Math.round((this.#clock.monotonic() - since) / 100) / 10;
    this.#log.info({ failures, seconds }, `${this.#message}: over`);
  }
}

/** The message of the first cause. */
function causeOf(error: unknown): string {
  let at = error;
  for (let depth = 0; depth < DEEPEST && at instanceof Error && at.cause; depth += 1) at = at.cause;
  return errorMessage(at);
}
