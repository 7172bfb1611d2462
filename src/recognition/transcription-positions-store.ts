import { type DatabasePool, sql } from "slonik";
import { errorMessage } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Runtime, Timer } from "../base/runtime.ts";

/** Positions are collected for this time and written together, milliseconds. */
const FLUSH_MS = 500;

/**
 * Stores how far sessions were read, for readers of the database; writes many sessions at a time.
 */
export class TranscriptionPositions {
  readonly #pool: DatabasePool;
  readonly #log: Log;
  readonly #runtime: Runtime;
  #waiting = new Map<string, number>();
  #timer: Timer | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(pool: DatabasePool, log: Log, runtime: Runtime) {
    this.#pool = pool;
    this.#log = log;
    this.#runtime = runtime;
  }

  /**
   * Notes how far a session was read.
   *
   * @param samples from the start of the session, at 16 kHz
   */
  note(sessionId: string, samples: number): void {
    this.#waiting.set(sessionId, samples);
    this.#timer ??= this.#runtime.after(FLUSH_MS, () => this.#flush());
  }

  /** Writes all noted positions. */
  async stop(): Promise<void> {
    if (this.#timer !== undefined) this.#flush();
    await this.#writing;
  }

  #flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const positions = this.#waiting;
    this.#waiting = new Map();
    this.#writing = this.#writing
      .then(() => this.#write(positions))
      // A failure is ignored, because the next position comes some seconds later.
      .catch((error: unknown) =>
        this.#log.warn({ error: errorMessage(error) }, "reading positions not written"),
      );
  }

  async #write(positions: ReadonlyMap<string, number>): Promise<void> {
    // Rows have the same order everywhere, so that two processes never wait for each other.
    const rows = [...positions].sort(([a], [b]) => (a < b ? -1 : 1));
    await this.#pool.query(sql.unsafe`
      insert into reading_positions (session_id, read_to)
      select * from ${sql.unnest(rows, ["uuid", "int8"])}
      on conflict (session_id) do update set read_to = excluded.read_to`);
  }
}
