import { AppError, errorMessage, isAppError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Runtime } from "../../base/runtime.ts";
import { type Progress, WorkList } from "../../base/work/work-list.ts";
import type { SessionActors } from "../context.ts";
import type { ErasureLedgerStore, UndoneRedaction } from "./ledger/ledger-store.ts";

const PAGE = 100;
/** So long a start waits for the sessions' hosts without any progress, milliseconds. */
const PATIENCE_MS = 60_000;

interface RepeatedRedactionOptions {
  records: ErasureLedgerStore;
  actors: SessionActors;
  runtime: Runtime;
  log: Log;
}

/** Makes redactions again that are on the ledger and that a restored database does not have. */
export class RepeatedRedaction {
  readonly #options: RepeatedRedactionOptions;
  readonly #undone: WorkList<UndoneRedaction>;
  /** Those that their session refused. */
  readonly #refused = new Set<string>();

  constructor(options: RepeatedRedactionOptions) {
    const { records, runtime, log } = options;
    this.#options = options;
    this.#undone = new WorkList({
      page: PAGE,
      read: (limit, except) => records.undoneRedactions(limit, [...except, ...this.#refused]),
      keyOf: ({ id }) => id,
      work: (redaction) => this.#redact(redaction),
      clock: runtime,
      log,
      trouble: "a redaction that a restore took back could not be made again yet",
      field: "redaction_id",
    });
  }

  /** How many could not be made again when last tried. */
  get failing(): number {
    return this.#undone.failing + this.#refused.size;
  }

  run(): Promise<Progress> {
    this.#refused.clear();
    return this.#undone.run();
  }

  /**
   * All of them: before anybody is served, while sessions are hosted. Throws `unavailable` when the
   * hosts do not answer; what a session refuses is told in the log, and tried again by maintenance.
   */
  async complete(): Promise<void> {
    if (await this.#undone.complete(PATIENCE_MS, this.#options.runtime)) return;
    throw new AppError(
      "unavailable",
      "Redactions that a restored database does not have cannot be made again: no host of the sessions answers. Nobody is served until they are.",
    );
  }

  async #redact({ id, sessionId, ...redaction }: UndoneRedaction): Promise<void> {
    const { actors, log } = this.#options;
    const command = { type: "Redact", redactionId: id, ...redaction } as const;
    try {
      await actors.ask(sessionId, command, id);
    } catch (error) {
      if (!isAppError(error) || error.retryable) throw error;
      this.#refused.add(id);
      const fields = { session_id: sessionId, redaction_id: id, error: errorMessage(error) };
      log.error(fields, "a redaction that a restore took back is refused by its session");
    }
  }
}
