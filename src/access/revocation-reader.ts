import { withTimeout } from "../base/deferred.ts";
import type { Log } from "../base/log.ts";
import type { Runtime, Timer } from "../base/runtime.ts";
import { TroubleLog } from "../base/trouble-log.ts";
import type { EndedRightsStore, RecordedRevocations } from "./ended-rights-store.ts";
import type { RevocationEvent } from "./revocations.ts";

interface RevocationReaderOptions {
  record: Pick<EndedRightsStore, "since">;
  /** Receives every event at least once. */
  notify(event: RevocationEvent): void;
  runtime: Runtime;
  log: Log;
  everyMs?: number;
}

/**
 * Interval of the polls, milliseconds. Together with the poll and the checks after it, it stays
 * well within the 5 s after which no ended right may still be used.
 */
const EVERY_MS = 2_000;
const POLL_MS = 10_000;
/** With more events in one look, it is cheaper to check everybody once. */
const MOST = 1_000;
/** After a longer gap events may have been deleted from the database. */
const LONGEST_GAP_MS = 8 * 60_000;

/**
 * Reads ended rights from the database, with one query every two seconds for all connections of
 * this process. While the database is unavailable no right ends here; afterwards the reader
 * continues where it stopped, or, if it cannot, has everybody checked.
 */
export class RevocationReader {
  readonly #options: RevocationReaderOptions;
  readonly #trouble: TroubleLog;
  #last: RecordedRevocations | undefined;
  #timer: Timer | undefined;
  #polling: Promise<void> | undefined;

  constructor(options: RevocationReaderOptions) {
    this.#options = options;
    const { log, runtime } = options;
    this.#trouble = new TroubleLog(log, "ended rights not readable", runtime);
  }

  /**
   * Resolves when reading has begun: later events are not missed. Rejects when the database cannot
   * be read.
   */
  async start(): Promise<void> {
    await this.#read();
    const { runtime, everyMs = EVERY_MS } = this.#options;
    this.#timer = runtime.every(everyMs, () => {
      this.#polling ??= this.#poll().finally(() => {
        this.#polling = undefined;
      });
    });
  }

  /** Resolves when the running look is done. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    await this.#polling;
  }

  async #poll(): Promise<void> {
    try {
      await this.#read();
      this.#trouble.worked();
    } catch (error) {
      this.#trouble.failed(error);
    }
  }

  async #read(): Promise<void> {
    const { record, runtime, notify } = this.#options;
    const last = this.#last;
    const looking = record.since(last?.snapshot, MOST + 1);
    const found = await withTimeout(looking, POLL_MS, "Reading ended rights", runtime);
    const events = last === undefined || follows(last, found) ? found.ended : [UNKNOWN];
    for (const event of events) notify(event);
    // Set last, so that after a failure the same events are delivered again.
    this.#last = found;
  }
}

const UNKNOWN: RevocationEvent = { kind: "unknown" };

/** True when no event can be missing between the two polls. */
function follows(last: RecordedRevocations, { server, at, ended }: RecordedRevocations): boolean {
  return server === last.server && at - last.at <= LONGEST_GAP_MS && ended.length <= MOST;
}
