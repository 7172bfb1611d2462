import type { CommandNotifier } from "../../postgres/outbox.ts";
import type { SilentSessionStore } from "./silent-sessions-store.ts";

const PAGE = 100;
/** A longer pause between two looks that worked means that nobody could hear devices either. */
const DEAF_MS = 60_000;

interface AutoStopOptions {
  sessions: Pick<SilentSessionStore, "now" | "stop">;
  notifier: CommandNotifier;
  /** Milliseconds. */
  silence: number;
}

/**
 * Stops sessions whose device went silent. Time in which this process did not
 * look, or could not, is not held against devices: nobody may have heard them.
 * All times are the record's, so that it does not matter what this host's clock says.
 */
export class AutoStop {
  readonly #options: AutoStopOptions;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #listeningSince = 0;

  constructor(options: AutoStopOptions) {
    this.#options = options;
  }

  /** Milliseconds between two looks. */
  get every(): number {
    return Math.min(10_000, Math.max(500, this.#options.silence / 4));
  }

  /** Returns how many were stopped. */
  async run(): Promise<number> {
    const { sessions, notifier, silence } = this.#options;
    const now = await sessions.now();
    if (now - this.#lookedAt > DEAF_MS) this.#listeningSince = now;
    if (now - this.#listeningSince < silence) {
      this.#lookedAt = now;
      return 0;
    }
    const rows = await sessions.stop(silence, PAGE);
    this.#lookedAt = now;
    notifier.notify(rows);
    return rows.length;
  }
}
