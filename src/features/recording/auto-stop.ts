import type { CommandNotifier, OutboxRow } from "../../postgres/outbox.ts";

const PAGE = 100;
/** A longer pause between two looks that worked means that nobody could hear devices either. */
const DEAF_MS = 60_000;

/** Port: sessions that record while nothing comes from their device. */
export interface SilentSessions {
  /** The record's own time, Unix milliseconds. */
  now(): Promise<number>;
  /**
   * Stops at most `limit` sessions whose device has given no sign of life for
   * `silence` milliseconds of the record's time: no audio and no heartbeat.
   * Each once, however many processes are at it; returns the commands to their
   * actors.
   */
  stop(silence: number, limit: number): Promise<OutboxRow[]>;
}

interface AutoStopParts {
  sessions: SilentSessions;
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
  readonly #parts: AutoStopParts;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #listeningSince = 0;

  constructor(parts: AutoStopParts) {
    this.#parts = parts;
  }

  /** Milliseconds between two looks. */
  get every(): number {
    return Math.min(10_000, Math.max(500, this.#parts.silence / 4));
  }

  /** Returns how many were stopped. */
  async run(): Promise<number> {
    const { sessions, notifier, silence } = this.#parts;
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
