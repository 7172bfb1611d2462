import { delay } from "../base/deferred.ts";
import { errorMessage, isAppError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Backlog, BacklogCommand } from "./backlog.ts";

/**
 * Finds work in the record that no message announced: unfinished sessions of a
 * partition that was just taken, and commands whose delivery was lost. Because
 * of it nothing depends on the message bus remembering anything.
 */
export class Sweeper {
  readonly #parts: SweeperParts;
  readonly #stop = new AbortController();
  readonly #fresh = new Set<number>();
  #running: Promise<void> | undefined;

  constructor(parts: SweeperParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Looks for unfinished sessions of this partition soon. */
  taken(partition: number): void {
    this.#fresh.add(partition);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        await this.#resume();
        await this.#redeliver();
      } catch (error) {
        this.#parts.log.warn({ error: errorMessage(error) }, "backlog not readable");
      }
      await delay(this.#parts.every, this.#stop.signal);
    }
  }

  /** Activates what was left unfinished; a failure leaves the partition for the next round. */
  async #resume(): Promise<void> {
    const partitions = [...this.#fresh];
    if (partitions.length === 0) return;
    const ids = await this.#parts.backlog.unfinished(partitions);
    for (const partition of partitions) this.#fresh.delete(partition);
    for (const id of ids) {
      if (this.#stop.signal.aborted) return;
      await this.#parts.activate(id).catch((error: unknown) => {
        if (isAppError(error, "lease_lost") || isAppError(error, "not_found")) return;
        for (const partition of partitions) this.#fresh.add(partition);
      });
    }
  }

  async #redeliver(): Promise<void> {
    const { backlog, owned, olderThan, limit } = this.#parts;
    const partitions = owned();
    if (partitions.length === 0) return;
    const commands = await backlog.commands(partitions, olderThan, limit);
    await Promise.all(
      commands.map((command) =>
        this.#parts.deliver(command).catch((error: unknown) => {
          if (isAppError(error) && error.retryable) return;
          this.#parts.log.warn(
            { command: command.command.type, error: errorMessage(error) },
            "command refused",
          );
        }),
      ),
    );
  }
}

export interface SweeperParts {
  backlog: Backlog;
  owned(): number[];
  activate(id: string): Promise<unknown>;
  deliver(command: BacklogCommand): Promise<unknown>;
  log: Log;
  /** Milliseconds between rounds. */
  every: number;
  /** Age of a command after which its delivery counts as lost, milliseconds. */
  olderThan: number;
  /** Commands per round. */
  limit: number;
}
