import type pg from "pg";
import { createDeferred, type Deferred } from "../../../src/base/deferred.ts";
import type { Runtime, Timer } from "../../../src/base/runtime.ts";
import type { SeededRandom } from "../seeded-random.ts";
import { DEADLOCK_MS } from "./sim-postgres.ts";
import type { SqlClock } from "./sql-clock.ts";

/** After so many real milliseconds without an answer it is asked whether a lock is waited for. */
const PATIENCE_MS = 5;
const STATEMENT_TIMEOUT = 15_000;

interface Task {
  /** The connection's process at the server. */
  pid: number;
  run(): Promise<unknown>;
  done: Deferred<unknown>;
}

interface Running {
  pid: number;
  task: Task;
  /** Set when it is answered: what its task becomes then. */
  answer: (() => void) | undefined;
  settled: Promise<void>;
  timer: Timer | undefined;
}

/**
 * What is asked of a real database, one after the other in an order that a seed
 * decides. Who waits for a lock is left waiting while others go on.
 */
export class SqlGate {
  readonly #control: pg.Client;
  readonly #runtime: Runtime;
  readonly #random: SeededRandom;
  #waiting: Task[] = [];
  #blocked: Running[] = [];
  /** The last of what is real, and how much of it is still to come. */
  #last: Promise<unknown> = Promise.resolve();
  #opening = 0;
  readonly clock: SqlClock;

  /** @param control a connection of its own */
  constructor(control: pg.Client, clock: SqlClock, runtime: Runtime, random: SeededRandom) {
    this.clock = clock;
    this.#control = control;
    this.#runtime = runtime;
    this.#random = random;
  }

  /** Microseconds since the epoch. */
  get time(): number {
    return Math.round(this.#runtime.now() * 1_000);
  }

  /** Something real that nobody decides about: one after the other, before anything else. */
  async open<T>(work: () => Promise<T>): Promise<T> {
    this.#opening += 1;
    const opened = this.#last.then(work);
    this.#last = opened.then(settled, settled).then(() => {
      this.#opening -= 1;
    });
    return opened;
  }

  /** Does it when its turn comes. */
  run<T>(pid: number, run: () => Promise<T>): Promise<T> {
    const done = createDeferred<unknown>();
    this.#waiting.push({ pid, run, done });
    return done.promise as Promise<T>;
  }

  /** Ends the connection, and returns when its transaction is gone and its client knows: `gone`. */
  terminate(pid: number, gone: Promise<void>): Promise<void> {
    return this.run(0, async () => {
      await this.#terminate(pid);
      await gone;
    });
  }

  /** False when there is nothing to do until time goes on. */
  async step(): Promise<boolean> {
    if (this.#opening > 0) {
      while (this.#opening > 0) await this.#last;
      return true;
    }
    if (this.#waiting.length === 0) return false;
    const [task] = this.#waiting.splice(this.#random.below(this.#waiting.length), 1);
    if (task !== undefined) await this.#perform(task);
    await this.#goOn();
    await settled();
    return true;
  }

  async #perform(task: Task): Promise<void> {
    this.clock.tell(this.time);
    const running: Running = {
      pid: task.pid,
      task,
      answer: undefined,
      settled: Promise.resolve(),
      timer: undefined,
    };
    running.settled = task.run().then(
      (value) => {
        running.answer = () => task.done.resolve(value);
      },
      (error: unknown) => {
        running.answer = () => task.done.reject(error);
      },
    );
    await Promise.race([running.settled, pause()]);
    if (await this.#isAnswered(running)) return this.#deliver(running);
    running.timer = this.#runtime.after(STATEMENT_TIMEOUT, () => {
      void this.run(0, () => this.#control.query("select pg_cancel_backend($1)", [running.pid]));
    });
    this.#blocked.push(running);
  }

  /** Those who waited for what is free now, in the order in which they began to wait. */
  async #goOn(): Promise<void> {
    for (let again = true; again; ) {
      again = false;
      for (const running of [...this.#blocked]) {
        if (!(await this.#isAnswered(running))) continue;
        this.#blocked = this.#blocked.filter((other) => other !== running);
        this.#deliver(running);
        again = true;
      }
    }
  }

  #deliver(running: Running): void {
    running.timer?.cancel();
    running.answer?.();
  }

  /** False as soon as it is known to wait for a lock, and not in a circle. */
  async #isAnswered(running: Running): Promise<boolean> {
    while (running.answer === undefined) {
      if (await this.#waitsForLock(running.pid)) return false;
      await Promise.race([running.settled, pause()]);
    }
    return true;
  }

  async #waitsForLock(pid: number): Promise<boolean> {
    if (pid === 0) return false;
    const { rows } = await this.#control.query<{ waits: boolean }>(
      `select cardinality(pg_blocking_pids($1)) > 0 and not exists (
         select from pg_locks where pid = $1 and not granted and (waitstart is null
           or waitstart > pg_catalog.clock_timestamp() - $2 * interval '1 millisecond')) as waits`,
      [pid, 20 * DEADLOCK_MS],
    );
    return rows[0]?.waits === true;
  }

  async #terminate(pid: number): Promise<void> {
    for (;;) {
      const { rows } = await this.#control.query<{ there: boolean }>(
        `select pg_terminate_backend($1) as there
         where exists (select from pg_stat_activity where pid = $1)`,
        [pid],
      );
      if (rows.length === 0) return;
      await pause();
    }
  }
}

function pause(): Promise<void> {
  return new Promise((wake) => setTimeout(wake, PATIENCE_MS));
}

/** What follows from an answer without any time has happened. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 4; turns += 1) await new Promise((wake) => setImmediate(wake));
}
