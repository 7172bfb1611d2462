import type { CommandNotifier } from "../../postgres/outbox.ts";
import type { SilentSessionStore } from "./silent-sessions-store.ts";

const PAGE = 100;
/**
 * After a longer pause between successful looks, devices get the full silence time again, because
 * the service may not have been able to receive from them.
 */
const DEAF_MS = 60_000;

interface AutoStopOptions {
  sessions: Pick<SilentSessionStore, "now" | "stop">;
  notifier: CommandNotifier;
  /** Time without a sign of life after which a session is stopped, milliseconds. */
  silence: number;
}

/**
 * Stops sessions whose device went silent. Time in which this process did not look, or could not,
 * is not counted as silence. All times are the database's, so this host's clock does not matter.
 */
export class AutoStop {
  readonly #options: AutoStopOptions;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #listeningSince = 0;

  constructor(options: AutoStopOptions) {
    this.#options = options;
  }

  /** Time between two polls, milliseconds. */
  get every(): number {
    return Math.min(10_000, Math.max(500, this.#options.silence / 4));
  }

  /** Looks once; returns how many sessions were stopped. */
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
