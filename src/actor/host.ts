import { AppError, isAppError, toAppError } from "../base/errors.ts";
import { partitionOf } from "../base/partition.ts";
import { longest, type QueueFigures, type QueueOwner } from "../base/queue-metrics.ts";
import type { Timer } from "../base/runtime.ts";
import { Activation, type ActivationOptions } from "./activation.ts";
import type { ActiveSession } from "./backlog.ts";

/**
 * The activations of this process. A session is activated by the first command for it, as long as
 * this host owns its partition. A failed activation is removed and reported to `onFailed`, and the
 * next command or sweep makes a new one from the record.
 */
export class ActorHost<S, E, W, C> implements QueueOwner {
  readonly #options: HostOptions<S, E, W, C>;
  readonly #activations = new Map<string, Entry<S, E, W, C>>();
  readonly #owned = new Set<number>();
  #sweeper: Timer | undefined;
  readonly #refused = { activations: 0, control: 0, requests: 0 };
  /** Sessions that other hosts have taken over; whether rightly is being checked. */
  readonly #disputed = new Set<string>();
  /** Sessions whose record could not be replayed at the last attempt. */
  readonly #unreadable = new Set<string>();

  constructor(options: HostOptions<S, E, W, C>) {
    this.#options = options;
  }

  start(): void {
    const { activation, sweepEvery } = this.#options;
    this.#sweeper ??= activation.runtime.every(sweepEvery, () => this.#passivate());
  }

  get size(): number {
    return this.#activations.size;
  }

  get queues(): readonly QueueFigures[] {
    const { maxActivations, activation } = this.#options;
    const waiting = [...this.#activations.values()].map((entry) => entry.activation.waiting);
    const lane = (name: "control" | "requests"): QueueFigures => ({
      queue: `mailbox_${name}`,
      length: longest(waiting.map((lengths) => lengths[name])),
      limit: activation.mailboxCapacity,
      refused: this.#refused[name],
    });
    const { activations: refused } = this.#refused;
    return [
      { queue: "activations", length: this.size, limit: maxActivations, refused },
      lane("control"),
      lane("requests"),
    ];
  }

  /** Partitions owned by this host. */
  get owned(): number[] {
    return [...this.#owned].sort((a, b) => a - b);
  }

  /** Adds partitions whose sessions may be activated here. */
  own(...partitions: readonly number[]): void {
    for (const partition of partitions) this.#owned.add(partition);
  }

  /** Gives up partitions after their sessions' current turns are finished. */
  release(...partitions: readonly number[]): Promise<void> {
    return this.#disown(partitions, "drain");
  }

  /** Removes lost partitions: their activations end at once. */
  lose(...partitions: readonly number[]): Promise<void> {
    return this.#disown(partitions, "stop");
  }

  async #disown(partitions: readonly number[], how: "drain" | "stop"): Promise<void> {
    for (const partition of partitions) this.#owned.delete(partition);
    const gone = new Set(partitions);
    const entries = [...this.#activations.values()].filter(({ activation }) =>
      gone.has(partitionOf(activation.id)),
    );
    await Promise.all(entries.map((entry) => this.#end(entry, how)));
  }

  /**
   * Delivers a command; settles after its events are durable. Throws what `activate` throws, or the
   * refusal's AppError.
   */
  async deliver(id: string, command: C, commandId: string, deadline?: number): Promise<unknown> {
    const activation = await this.activate(id);
    return activation.ask(command, commandId, deadline);
  }

  /**
   * Returns the activation of a session, and makes it when there is none. Throws `lease_lost`,
   * `unavailable` without a valid lease, `overloaded` at the limit, or `not_found`.
   */
  async activate(id: string): Promise<Activation<S, E, W, C>> {
    if (!this.#owned.has(partitionOf(id)) || this.#disputed.has(id)) {
      throw new AppError("lease_lost", "This session lives on another host.");
    }
    if (this.#options.activation.hasRight?.() === false) {
      throw new AppError("unavailable", "This host has not renewed its lease.", { retryAfter: 1 });
    }
    let entry = this.#activations.get(id);
    if (entry === undefined) {
      if (this.#activations.size >= this.#options.maxActivations) {
        this.#refused.activations += 1;
        throw new AppError("overloaded", "This host has as many sessions as it can take.");
      }
      entry = this.#create(id);
    }
    await entry.started;
    return entry.activation;
  }

  #create(id: string): Entry<S, E, W, C> {
    const activation = new Activation<S, E, W, C>(id, {
      ...this.#options.activation,
      onFailed: (_id, error) => this.#failed(activation, error),
      onRefused: (lane) => {
        this.#refused[lane] += 1;
      },
    });
    const started = activation.start().then(
      (found) => {
        this.#unreadable.delete(id);
        if (found) return;
        this.#forget(id, activation);
        throw new AppError("not_found", "There is no session with this id.");
      },
      (error: unknown) => {
        this.#forget(id, activation);
        throw this.#noteUnreadable(id, toAppError(error));
      },
    );
    const entry = { activation, started };
    this.#activations.set(id, entry);
    return entry;
  }

  /** Logs a session that cannot be loaded once, because it is tried again until it is repaired. */
  #noteUnreadable(id: string, error: AppError): AppError {
    if (error.code !== "internal" || this.#unreadable.has(id)) return error;
    this.#unreadable.add(id);
    const cause = error.cause instanceof Error ? error.cause.stack : String(error.cause ?? "");
    const fields = { session_id: id, error: error.message, cause };
    this.#options.activation.log.error(fields, "session cannot be loaded");
    return error;
  }

  #failed(activation: Activation<S, E, W, C>, error: AppError): void {
    const { id } = activation;
    // An activation that was removed before, during a turn, says nothing about its session now.
    if (this.#activations.get(id)?.activation !== activation) return;
    this.#forget(id, activation);
    if (isAppError(error, "stale_epoch")) void this.#yield(id);
    else this.#options.onFailed?.(id);
  }

  /**
   * Another host has taken this session over. If two hosts took it from each other in turn, that
   * would never end, so it is activated again only when it certainly belongs here.
   */
  async #yield(id: string): Promise<void> {
    const { onFenced, onFailed, activation } = this.#options;
    if (onFenced === undefined) return;
    this.#disputed.add(id);
    try {
      if (await onFenced(partitionOf(id))) onFailed?.(id);
    } catch (error) {
      activation.log.warn({ session_id: id, error: String(error) }, "owner not known");
    } finally {
      this.#disputed.delete(id);
    }
  }

  /** The activations in phase `active`. */
  get active(): ActiveSession[] {
    return [...this.#activations.values()]
      .filter(({ activation }) => activation.phase === "active")
      .map(({ activation: { id, epoch } }) => ({ id, epoch }));
  }

  /**
   * Ends an activation that the record no longer knows, without counting a failure. A host that has
   * taken the session over keeps it.
   */
  async end({ id, epoch }: ActiveSession, isDeleted: boolean): Promise<void> {
    const entry = this.#activations.get(id);
    if (entry?.activation.epoch !== epoch) return;
    const yielding = isDeleted ? undefined : this.#yield(id);
    await this.#end(entry, "stop");
    await yielding;
  }

  #forget(id: string, activation: Activation<S, E, W, C>): void {
    if (this.#activations.get(id)?.activation === activation) this.#activations.delete(id);
  }

  async #end(entry: Entry<S, E, W, C>, how: "drain" | "stop"): Promise<void> {
    await entry.started.catch(() => {});
    await entry.activation[how]();
    this.#forget(entry.activation.id, entry.activation);
  }

  #passivate(): void {
    for (const entry of this.#activations.values()) {
      if (entry.activation.idleFor() < this.#options.passivateAfter) continue;
      this.#end(entry, "drain").catch((error: unknown) => {
        this.#options.activation.log.warn({ error: String(error) }, "passivation failed");
      });
    }
  }

  /** Drains all activations, because the process stops. */
  async drain(): Promise<void> {
    this.#sweeper?.cancel();
    this.#sweeper = undefined;
    this.#owned.clear();
    await Promise.all([...this.#activations.values()].map((entry) => this.#end(entry, "drain")));
  }
}

interface HostOptions<S, E, W, C> {
  activation: Omit<ActivationOptions<S, E, W, C>, "onFailed" | "onRefused">;
  maxActivations: number;
  /** An activation is removed after this idle time, milliseconds. */
  passivateAfter: number;
  /** Interval of the checks for idle activations, milliseconds. */
  sweepEvery: number;
  /**
   * Called when a fault ended a session's activation: its work waits until it is activated again.
   */
  onFailed?(id: string): void;
  /**
   * Called when another host wrote for a session of this partition. Resolves with true when the
   * partition certainly belongs to this host; else it was given up here.
   */
  onFenced?(partition: number): Promise<boolean>;
}

interface Entry<S, E, W, C> {
  activation: Activation<S, E, W, C>;
  started: Promise<void>;
}
