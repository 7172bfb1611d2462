import type pg from "pg";
import { createDeferred, type Deferred } from "../../../src/base/deferred.ts";
import type { Runtime, Timer } from "../../../src/base/runtime.ts";
import type { SeededRandom } from "../seeded-random.ts";
import { TIME_SCHEMA } from "./sim-postgres.ts";

/** After so many real milliseconds without an answer it is asked whether a lock is waited for. */
const PATIENCE_MS = 3;
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
  readonly #opening = new Set<Promise<unknown>>();
  #told = Number.NaN;

  /** @param control a connection of its own */
  constructor(control: pg.Client, runtime: Runtime, random: SeededRandom) {
    this.#control = control;
    this.#runtime = runtime;
    this.#random = random;
  }

  /** Microseconds since the epoch. */
  get time(): number {
    return Math.round(this.#runtime.now() * 1_000);
  }

  /** Something real that nobody decides about: it is only waited for. */
  async open<T>(work: Promise<T>): Promise<T> {
    const opening = work.catch(() => undefined);
    this.#opening.add(opening);
    try {
      return await work;
    } finally {
      this.#opening.delete(opening);
    }
  }

  /** Does it when its turn comes. */
  run<T>(pid: number, run: () => Promise<T>): Promise<T> {
    const done = createDeferred<unknown>();
    this.#waiting.push({ pid, run, done });
    return done.promise as Promise<T>;
  }

  /** Ends the connection, and returns when its transaction is gone. */
  terminate(pid: number): Promise<void> {
    return this.run(0, () => this.#terminate(pid));
  }

  /** False when there is nothing to do until time goes on. */
  async step(): Promise<boolean> {
    await settled();
    if (this.#opening.size > 0) {
      await Promise.race(this.#opening);
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
    await this.#tellTime();
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

  /** False as soon as it is known to wait for a lock. */
  async #isAnswered(running: Running): Promise<boolean> {
    while (running.answer === undefined) {
      await Promise.race([running.settled, pause()]);
      if (running.answer === undefined && (await this.#waitsForLock(running.pid))) return false;
    }
    return true;
  }

  async #waitsForLock(pid: number): Promise<boolean> {
    if (pid === 0) return false;
    const { rows } = await this.#control.query<{ waits: boolean }>(
      "select cardinality(pg_blocking_pids($1)) > 0 as waits",
      [pid],
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

  async #tellTime(): Promise<void> {
    if (this.#told === this.time) return;
    this.#told = this.time;
    await this.#control.query(`select setval('${TIME_SCHEMA}.clock', $1)`, [this.#told]);
  }
}

function pause(): Promise<void> {
  return new Promise((wake) => setTimeout(wake, PATIENCE_MS));
}

/** What follows from an answer without any time has happened. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 4; turns += 1) await new Promise((wake) => setImmediate(wake));
}
