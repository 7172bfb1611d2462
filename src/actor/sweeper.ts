import { errorMessage, isAppError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Runtime } from "../base/runtime.ts";
import type { Backlog, BacklogCommand } from "./backlog.ts";
import { Relapses, restAfter } from "./relapses.ts";

/** Unfinished sessions loaded at the same time. */
const ACTIVATED_TOGETHER = 8;

/**
 * Finds work in the record that no message announced: unfinished sessions of a
 * partition that was just taken, or whose activation a fault ended, and commands
 * whose delivery was lost. Because of it nothing depends on the message bus
 * remembering anything.
 */
export class Sweeper {
  readonly #parts: SweeperParts;
  readonly #stop = new AbortController();
  readonly #fresh = new Set<number>();
  readonly #relapses = new Relapses();
  /** Commands that failed, and when they are tried again (monotonic milliseconds). */
  readonly #failed = new Map<string, { times: number; at: number }>();
  #running: Promise<void> | undefined;
  /** Ends the wait for the next round. */
  #wake = new AbortController();

  constructor(parts: SweeperParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Looks for unfinished sessions of this partition at once. */
  taken(partition: number): void {
    this.#fresh.add(partition);
    this.#wake.abort();
  }

  /** Sessions whose activation a fault ended not long ago. */
  get relapsed(): number {
    return this.#relapses.size;
  }

  /** This session's activation ended by a fault: nobody else may ask for it. */
  failed(id: string): void {
    this.#relapses.failed(id, this.#parts.runtime.monotonic());
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#wake.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      this.#wake = new AbortController();
      try {
        await this.#resume();
        await this.#revive();
        await this.#redeliver();
      } catch (error) {
        this.#parts.log.warn({ error: errorMessage(error) }, "backlog not readable");
      }
      await this.#parts.runtime.delay(this.#parts.every, this.#wake.signal);
    }
  }

  /**
   * Of partitions just taken: delivers the commands that wait, however young, as somebody waits
   * for them, and activates what was left unfinished. A failure leaves the partition for the next
   * round.
   */
  async #resume(): Promise<void> {
    const partitions = [...this.#fresh];
    if (partitions.length === 0) return;
    const waitingCommands = await this.#parts.backlog.commands(partitions, 0, this.#parts.limit);
    await Promise.all(waitingCommands.map((command) => this.#deliver(command)));
    const ids = await this.#parts.backlog.unfinished(partitions);
    for (const partition of partitions) this.#fresh.delete(partition);
    await this.#activateAll(ids, (_id, error) => {
      if (error === undefined || isElsewhere(error)) return;
      for (const partition of partitions) this.#fresh.add(partition);
    });
  }

  /** What such an activation had begun, as a reading, would else wait for the next command. */
  async #revive(): Promise<void> {
    const relapses = this.#relapses;
    await this.#activateAll(relapses.due(this.#parts.runtime.monotonic()), (id, error) => {
      if (error === undefined) relapses.activated(id);
      else if (isElsewhere(error)) relapses.forget(id);
      else this.failed(id);
    });
  }

  async #activateAll(
    ids: readonly string[],
    settled: (id: string, error: unknown) => void,
  ): Promise<void> {
    const waiting = [...ids];
    const activateNext = async (): Promise<void> => {
      for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
        if (this.#stop.signal.aborted) return;
        await this.#parts.activate(id).then(
          () => settled(id, undefined),
          (error: unknown) => settled(id, error),
        );
      }
    };
    await Promise.all(Array.from({ length: ACTIVATED_TOGETHER }, activateNext));
  }

  async #redeliver(): Promise<void> {
    const { backlog, owned, olderThan, limit, runtime } = this.#parts;
    const partitions = owned();
    if (partitions.length === 0) return;
    const now = runtime.monotonic();
    const found = await backlog.commands(partitions, olderThan, limit);
    const due = found.filter(({ id }) => (this.#failed.get(id)?.at ?? 0) <= now);
    await Promise.all(due.map((command) => this.#deliver(command)));
    const known = new Set(found.map(({ id }) => id));
    for (const id of this.#failed.keys()) if (!known.has(id)) this.#failed.delete(id);
  }

  /** What fails is tried again ever more rarely, and said only the first time. */
  async #deliver(command: BacklogCommand): Promise<void> {
    const { deliver, log, runtime } = this.#parts;
    try {
      await deliver(command);
      this.#failed.delete(command.id);
    } catch (error) {
      const times = (this.#failed.get(command.id)?.times ?? 0) + 1;
      this.#failed.set(command.id, { times, at: runtime.monotonic() + restAfter(times) });
      if (times > 1 || (isAppError(error) && error.retryable)) return;
      const { type } = command.command;
      log.warn({ command: type, error: errorMessage(error) }, "command refused");
    }
  }
}

/** Another host has it, or it is gone. */
function isElsewhere(error: unknown): boolean {
  return isAppError(error, "lease_lost") || isAppError(error, "not_found");
}

export interface SweeperParts {
  backlog: Backlog;
  owned(): number[];
  activate(id: string): Promise<unknown>;
  deliver(command: BacklogCommand): Promise<unknown>;
  runtime: Runtime;
  log: Log;
  /** Milliseconds between rounds. */
  every: number;
  /** Age of a command after which its delivery counts as lost, milliseconds. */
  olderThan: number;
  /** Commands per round. */
  limit: number;
}
