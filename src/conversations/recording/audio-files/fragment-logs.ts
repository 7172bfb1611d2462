import { withTimeout } from "../../../base/deferred.ts";
import { errorMessage, isAppError } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Runtime, Timer } from "../../../base/runtime.ts";
import type { FragmentLogStore } from "../audio-store/audio-store.ts";
import { type LoggedFragment, toLogEntry } from "./stored-fragments.ts";

/** How long an acknowledgement waits for the store, milliseconds. */
const APPEND_MS = 2_000;
/** So long after it failed the store is left alone, milliseconds. */
const REST_MS = 10_000;
/** So long a log stays after its chunk was stored: a backup of that moment reads it; milliseconds. */
const KEPT_MS = 60_000;
/** Most logs that stay so. */
const MOST_KEPT = 20_000;

const REMOVED_AT_ONCE = 8;
const STOP_MS = 2_000;

interface FragmentLogsOptions {
  store: Pick<FragmentLogStore, "appendLog" | "readLog" | "removeLog" | "logPaceMs">;
  runtime: Pick<Runtime, "after" | "monotonic" | "newId">;
  log: Log;
}

/**
 * The bytes of streams on their way into the audio store: one log for each chunk that is being streamed,
 * which one connection writes. While the store takes none, the record does: a stream is acknowledged on
 * through an outage of the store.
 */
export class FragmentLogs {
  readonly #options: FragmentLogsOptions;
  readonly #kept = new Map<string, { timer: Timer; remove(): Promise<void> }>();
  #restsUntil = Number.NEGATIVE_INFINITY;

  constructor(options: FragmentLogsOptions) {
    this.#options = options;
  }

  /** Least time between two fragments of one stream, milliseconds. */
  get paceMs(): number {
    return this.#options.store.logPaceMs;
  }

  /** A log for a chunk that begins; undefined while the store rests. */
  open(sessionId: string): FragmentLog | undefined {
    const { runtime } = this.#options;
    if (runtime.monotonic() < this.#restsUntil) return undefined;
    return new FragmentLog(sessionId, runtime.newId(), {
      append: (name, at, entry) => this.#append(sessionId, name, at, entry),
      remove: (name) => this.#remove(sessionId, name),
    });
  }

  /** All entries of a log. Throws `not_found`, and `unavailable` while the store is away. */
  readLog(sessionId: string, log: string): Promise<Buffer> {
    return this.#options.store.readLog(sessionId, log);
  }

  /** Removes a log whose chunk is stored, some time later. */
  retire(sessionId: string, log: string): void {
    if (this.#kept.size >= MOST_KEPT) return void this.#remove(sessionId, log);
    const remove = () => {
      this.#kept.delete(log);
      return this.#remove(sessionId, log);
    };
    const timer = this.#options.runtime.after(KEPT_MS, () => void remove());
    this.#kept.set(log, { timer, remove });
  }

  /** Removes at once what would be removed later, as much as that takes no longer than a moment. */
  async stop(): Promise<void> {
    const { runtime } = this.#options;
    const kept = [...this.#kept.values()];
    for (const { timer } of kept) timer.cancel();
    const until = runtime.monotonic() + STOP_MS;
    while (kept.length > 0 && runtime.monotonic() < until) {
      await Promise.all(kept.splice(0, REMOVED_AT_ONCE).map(({ remove }) => remove()));
    }
  }

  async #append(sessionId: string, name: string, at: number, entry: Uint8Array): Promise<boolean> {
    const { store, runtime, log } = this.#options;
    const appended = store.appendLog(sessionId, name, at, entry);
    try {
      await withTimeout(appended, APPEND_MS, "Storing streamed audio", runtime);
      return true;
    } catch (error) {
      // A log whose first entry comes after all is nobody's.
      const isLate = isAppError(error, "timeout") && at === 0;
      if (isLate) void appended.then(() => this.#remove(sessionId, name)).catch(() => {});
      // The log alone is gone, with its session.
      if (isAppError(error, "not_found")) return false;
      if (runtime.monotonic() >= this.#restsUntil) {
        const fields = { session_id: sessionId, error: errorMessage(error) };
        log.warn(fields, "streamed audio goes into the record, as the store takes none");
      }
      this.#restsUntil = runtime.monotonic() + REST_MS;
      return false;
    }
  }

  /** What cannot be removed is left to the sweep. */
  async #remove(sessionId: string, name: string): Promise<void> {
    const { store, log } = this.#options;
    await store.removeLog(sessionId, name).catch((error: unknown) => {
      log.warn(
        { session_id: sessionId, error: errorMessage(error) },
        "log of a stream not removed",
      );
    });
  }
}

interface LogCalls {
  append(name: string, at: number, entry: Uint8Array): Promise<boolean>;
  remove(name: string): Promise<void>;
}

/** The log of one chunk, written by one connection, one fragment after the other. */
export class FragmentLog {
  readonly sessionId: string;
  readonly name: string;
  readonly #calls: LogCalls;
  #at = 0;
  #isBroken = false;

  constructor(sessionId: string, name: string, calls: LogCalls) {
    this.sessionId = sessionId;
    this.name = name;
    this.#calls = calls;
  }

  /**
   * The log's name, when the fragment is durable there. After one that is not, the log takes none: what was
   * given up may still come to stand at the same place.
   */
  async add(fragment: LoggedFragment): Promise<string | undefined> {
    if (this.#isBroken) return undefined;
    const entry = toLogEntry(fragment);
    if (await this.#calls.append(this.name, this.#at, entry)) {
      this.#at += entry.byteLength;
      return this.name;
    }
    this.#isBroken = true;
    return undefined;
  }

  /** Removes it; never rejects. */
  remove(): Promise<void> {
    this.#isBroken = true;
    return this.#calls.remove(this.name);
  }
}
