import { type DatabasePool, sql } from "slonik";
import { errorMessage } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Runtime, Timer } from "../base/runtime.ts";

/** Positions that came meanwhile are written together. */
const FLUSH_MS = 500;

/** How far sessions were read, for whoever asks the record; written for many sessions at a time. */
export class ReadingPositions {
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

  /** @param samples from the start of the session, at 16 kHz */
  note(sessionId: string, samples: number): void {
    this.#waiting.set(sessionId, samples);
    this.#timer ??= this.#runtime.after(FLUSH_MS, () => this.#flush());
  }

  /** Writes what waits. */
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
      // The next one, some seconds later, says more than this one would have.
      .catch((error: unknown) =>
        this.#log.warn({ error: errorMessage(error) }, "reading positions not written"),
      );
  }

  async #write(positions: ReadonlyMap<string, number>): Promise<void> {
    // The same order everywhere, so that two processes never wait for each other.
    const rows = [...positions].sort(([a], [b]) => (a < b ? -1 : 1));
    await this.#pool.query(sql.unsafe`
      insert into reading_positions (session_id, read_to)
      select * from ${sql.unnest(rows, ["uuid", "int8"])}
      on conflict (session_id) do update set read_to = excluded.read_to`);
  }
}
