const EVERY_MS = 5_000;
const FAILURES_IN_A_ROW = 4;

/**
 * Asks a part from time to time whether it still does its work, and tells once when it has not
 * for four times in a row: a server can be alive and useless (PostgreSQL after a full disk).
 */
export class HealthWatch {
  readonly #ask: () => Promise<boolean>;
  readonly #onSick: () => void;
  readonly #everyMs: number;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #stopped = false;

  constructor(ask: () => Promise<boolean>, onSick: () => void, everyMs = EVERY_MS) {
    this.#ask = ask;
    this.#onSick = onSick;
    this.#everyMs = everyMs;
    this.#schedule();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    this.#timer = setTimeout(() => void this.#check(), this.#everyMs);
    this.#timer.unref();
  }

  async #check(): Promise<void> {
    const healthy = await this.#ask().catch(() => false);
    if (this.#stopped) return;
    this.#failures = healthy ? 0 : this.#failures + 1;
    if (this.#failures < FAILURES_IN_A_ROW) return this.#schedule();
    this.stop();
    this.#onSick();
  }
}
