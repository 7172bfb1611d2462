import { withTimeout } from "../../base/deferred.ts";
import type { Log } from "../../base/log.ts";
import type { Runtime } from "../../base/runtime.ts";
import { TroubleLog } from "../../base/trouble-log.ts";
import { PeriodicTask, type PeriodicWork } from "../../base/work/periodic-task.ts";
import type { Progress } from "../../base/work/work-list.ts";

/**
 * A task that is repeated; `run` returns how many items it processed. A run that says that there is
 * more is followed by another one as soon as all other due tasks have run.
 */
export interface MaintenanceTask {
  name: string;
  /** Time between runs, milliseconds. */
  every: number;
  /** True when the task runs in every process, not in one at a time. */
  everywhere?: boolean;
  /** Whether there is anything to do; asked of all due tasks at once. */
  isWanted?(): Promise<boolean>;
  run(): Promise<number | Progress>;
}

/** Tasks that are due within this time run together with those that are due now. */
const SOON_MS = 250;
const POLL_MS = 1_000;
/** A task that takes longer is left to run on by itself, and the others have their turns. */
const PATIENCE_MS = 10_000;

/**
 * Runs maintenance tasks one after the other, each when it is due, in the process that is first.
 * Several processes may believe to be first: every task is repeatable and safe to run concurrently.
 * A task that fails is logged and tried again when it is next due; one that hangs holds up itself
 * alone, and is not begun again before it has ended.
 */
export class Maintenance {
  readonly #tasks: readonly MaintenanceTask[];
  readonly #log: Log;
  readonly #runtime: Runtime;
  readonly #isFirst: () => boolean;
  readonly #due = new Map<string, number>();
  readonly #running = new Map<string, Promise<void>>();
  /** When each task that this process ran last worked, or was first begun; by its monotonic clock. */
  readonly #worked = new Map<string, number>();
  readonly #troubles = new Map<string, TroubleLog>();
  readonly #rounds: PeriodicTask;

  constructor(
    tasks: readonly MaintenanceTask[],
    log: Log,
    runtime: Runtime,
    isFirst: () => boolean = () => true,
  ) {
    this.#isFirst = isFirst;
    this.#tasks = tasks;
    this.#log = log;
    this.#runtime = runtime;
    const every = Math.min(POLL_MS, ...tasks.map((task) => task.every));
    const run: PeriodicWork["run"] = (signal) => this.#round(signal);
    this.#rounds = new PeriodicTask({ run, every, trouble: "maintenance failed", runtime, log });
  }

  start(): void {
    this.#rounds.start();
  }

  /** How long ago each task that this process ever began last worked, seconds. */
  get ages(): ReadonlyMap<string, number> {
    const now = this.#runtime.monotonic();
    return new Map([...this.#worked].map(([name, at]) => [name, (now - at) / 1_000]));
  }

  /** Resolves when the running tasks are done. */
  async stop(): Promise<void> {
    await this.#rounds.stop();
    await Promise.all(this.#running.values());
  }

  async #round(stop: AbortSignal): Promise<void> {
    const due = this.#tasks.filter((task) => this.#isDue(task));
    const checks = await Promise.allSettled(due.map((task) => this.#isWanted(task)));
    for (const [at, task] of due.entries()) {
      if (stop.aborted) return;
      await this.#begin(task, checks[at]);
    }
  }

  #isDue({ name, every, everywhere = false }: MaintenanceTask): boolean {
    const isOurs = everywhere || this.#isFirst();
    return (
      isOurs &&
      !this.#running.has(name) &&
      (this.#due.get(name) ?? 0) <= this.#runtime.monotonic() + Math.min(SOON_MS, every / 4)
    );
  }

  #isWanted({ name, isWanted }: MaintenanceTask): Promise<boolean> {
    const check = isWanted?.() ?? Promise.resolve(true);
    return withTimeout(check, PATIENCE_MS, `Looking for ${name}`, this.#runtime);
  }

  /** Waits for the task's end, but not for one that hangs. */
  async #begin(task: MaintenanceTask, check?: PromiseSettledResult<boolean>): Promise<void> {
    const { name } = task;
    if (!this.#worked.has(name)) this.#worked.set(name, this.#runtime.monotonic());
    const running = this.#do(task, check).finally(() => this.#running.delete(name));
    this.#running.set(name, running);
    await withTimeout(running, PATIENCE_MS, name, this.#runtime).catch(() => {
      this.#log.warn({ task: name }, "maintenance takes long; the other tasks go on");
    });
  }

  async #do(
    { name, every, run }: MaintenanceTask,
    check?: PromiseSettledResult<boolean>,
  ): Promise<void> {
    this.#due.set(name, this.#runtime.monotonic() + every);
    try {
      if (check?.status === "rejected") throw check.reason;
      const ran = check?.value === false ? 0 : await run();
      const { done, more } = typeof ran === "number" ? { done: ran, more: false } : ran;
      if (more) this.#due.set(name, this.#runtime.monotonic());
      this.#worked.set(name, this.#runtime.monotonic());
      this.#trouble(name).worked();
      if (done > 0) this.#log.info({ task: name, done }, "maintenance");
    } catch (error) {
      this.#trouble(name).failed(error);
    }
  }

  #trouble(name: string): TroubleLog {
    const log = this.#log.child({ task: name });
    const trouble =
      this.#troubles.get(name) ?? new TroubleLog(log, "maintenance failed", this.#runtime);
    this.#troubles.set(name, trouble);
    return trouble;
  }
}
