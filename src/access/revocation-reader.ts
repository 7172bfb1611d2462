import { withTimeout } from "../base/deferred.ts";
import type { Log } from "../base/log.ts";
import type { Runtime, Timer } from "../base/runtime.ts";
import { TroubleLog } from "../base/trouble-log.ts";
import type { EndedRightsStore, RecordedRevocations } from "./ended-rights-store.ts";
import type { RevocationEvent } from "./revocations.ts";

interface RevocationReaderOptions {
  record: Pick<EndedRightsStore, "since">;
  /** Hears everything at least once. */
  tell(event: RevocationEvent): void;
  runtime: Runtime;
  log: Log;
  everyMs?: number;
}

/** With the look and the checks that follow it, well within the 5 s after which nobody may be in. */
const EVERY_MS = 2_000;
const LOOK_MS = 10_000;
/** Events of one look beyond which it is cheaper to check everybody once. */
const MOST = 1_000;
/** The record keeps what is older for a while longer, but not for ever. */
const LONGEST_GAP_MS = 8 * 60_000;

/**
 * Learns from the record what ended rights, with one query every two seconds for all who are
 * connected to this process. While the record cannot be read nobody loses a right; afterwards the
 * reader goes on where it stood, and where it cannot, everybody is in doubt.
 */
export class RevocationReader {
  readonly #options: RevocationReaderOptions;
  readonly #trouble: TroubleLog;
  #last: RecordedRevocations | undefined;
  #timer: Timer | undefined;
  #looking: Promise<void> | undefined;

  constructor(options: RevocationReaderOptions) {
    this.#options = options;
    const { log, runtime } = options;
    this.#trouble = new TroubleLog(log, "ended rights not readable", runtime);
  }

  /** From when it resolves nothing is missed; rejects when the record cannot be read. */
  async start(): Promise<void> {
    await this.#read();
    const { runtime, everyMs = EVERY_MS } = this.#options;
    this.#timer = runtime.every(everyMs, () => {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
    });
  }

  /** Resolves when the look in hand is done. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    await this.#looking;
  }

  async #look(): Promise<void> {
    try {
      await this.#read();
      this.#trouble.worked();
    } catch (error) {
      this.#trouble.failed(error);
    }
  }

  async #read(): Promise<void> {
    const { record, runtime, tell } = this.#options;
    const last = this.#last;
    const looking = record.since(last?.snapshot, MOST + 1);
    const found = await withTimeout(looking, LOOK_MS, "Reading ended rights", runtime);
    const events = last === undefined || follows(last, found) ? found.ended : [UNKNOWN];
    for (const event of events) tell(event);
    // Last: what was not heard to the end is told again.
    this.#last = found;
  }
}

const UNKNOWN: RevocationEvent = { kind: "unknown" };

/** Nothing can be missing between the two. */
function follows(last: RecordedRevocations, { server, at, ended }: RecordedRevocations): boolean {
  return server === last.server && at - last.at <= LONGEST_GAP_MS && ended.length <= MOST;
}
