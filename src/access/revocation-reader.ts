import { withTimeout } from "../base/deferred.ts";
import type { Log } from "../base/log.ts";
import type { Runtime } from "../base/runtime.ts";
import { PeriodicTask } from "../base/work/periodic-task.ts";
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
  readonly #polls: PeriodicTask;
  #last: RecordedRevocations | undefined;

  constructor(options: RevocationReaderOptions) {
    this.#options = options;
    const { log, runtime, everyMs: every = EVERY_MS } = options;
    this.#polls = new PeriodicTask({
      ...{ every, waitsFirst: true, trouble: "ended rights not readable", runtime, log },
      run: async () => {
        const begun = runtime.monotonic();
        await this.#read();
        // A slow poll delays the next one no further.
        return Math.max(1, every - (runtime.monotonic() - begun));
      },
    });
  }

  /**
   * Resolves when reading has begun: later events are not missed. Rejects when the database cannot
   * be read.
   */
  async start(): Promise<void> {
    await this.#read();
    this.#polls.start();
  }

  /** Resolves when the running poll is done. */
  stop(): Promise<void> {
    return this.#polls.stop();
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
