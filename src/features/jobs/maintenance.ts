import type { Log } from "../../base/log.ts";
import type { Runtime } from "../../base/runtime.ts";
import { TroubleLog } from "../../base/trouble-log.ts";
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
const LOOK_MS = 1_000;

/**
 * Runs maintenance tasks one after the other, each when it is due, in the process that is first.
 * Several processes may believe to be first: every task is repeatable and safe to run concurrently.
 * A task that fails is logged and tried again when it is next due.
 */
export class Maintenance {
  readonly #tasks: readonly MaintenanceTask[];
  readonly #log: Log;
  readonly #runtime: Runtime;
  readonly #isFirst: () => boolean;
  readonly #stop = new AbortController();
  readonly #due = new Map<string, number>();
  readonly #troubles = new Map<string, TroubleLog>();
  #loop: Promise<void> | undefined;

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
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Resolves when the running task is done. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const rest = Math.min(LOOK_MS, ...this.#tasks.map(({ every }) => every));
    while (!this.#stop.signal.aborted) {
      const due = this.#tasks.filter((task) => this.#isDue(task));
      const looks = await Promise.allSettled(due.map((task) => task.isWanted?.() ?? true));
      for (const [at, task] of due.entries()) {
        if (this.#stop.signal.aborted) return;
        await this.#do(task, looks[at]);
      }
      await this.#runtime.delay(rest, this.#stop.signal);
    }
  }

  #isDue({ name, every, everywhere = false }: MaintenanceTask): boolean {
    const isOurs = everywhere || this.#isFirst();
    return (
      isOurs &&
      (this.#due.get(name) ?? 0) <= this.#runtime.monotonic() + Math.min(SOON_MS, every / 4)
    );
  }

  async #do(
    { name, every, run }: MaintenanceTask,
    look?: PromiseSettledResult<boolean>,
  ): Promise<void> {
    this.#due.set(name, this.#runtime.monotonic() + every);
    try {
      if (look?.status === "rejected") throw look.reason;
      const ran = look?.value === false ? 0 : await run();
      const { done, more } = typeof ran === "number" ? { done: ran, more: false } : ran;
      if (more) this.#due.set(name, this.#runtime.monotonic());
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
