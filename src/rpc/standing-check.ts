import { withTimeout } from "../base/deferred.ts";
import { type AppError, toAppError } from "../base/errors.ts";

export interface StandingCheckOptions {
  /** Rejects with an AppError when the right has ended. */
  check(): Promise<unknown>;
  everyMs: number;
  timeoutMs: number;
  onLost(error: AppError): void;
}

/** Asks again and again whether an open stream may go on. */
export class StandingCheck {
  readonly #options: StandingCheckOptions;
  #timer: NodeJS.Timeout | undefined;
  #checking = false;

  constructor(options: StandingCheckOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => void this.now(), this.#options.everyMs);
  }

  /** Never rejects. */
  async now(): Promise<void> {
    if (this.#checking || this.#timer === undefined) return;
    this.#checking = true;
    const { check, timeoutMs, onLost } = this.#options;
    try {
      await withTimeout(check(), timeoutMs, "Checking your rights");
    } catch (thrown) {
      const error = toAppError(thrown);
      // A check that could not be made takes nobody's right away.
      if (error.status < 500 && this.#timer !== undefined) onLost(error);
    } finally {
      this.#checking = false;
    }
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
