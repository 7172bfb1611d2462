import { AppError, isAppError, toAppError } from "../base/errors.ts";
import { partitionOf } from "../base/partition.ts";
import { longest, type QueueFigures, type QueueOwner } from "../base/queue-metrics.ts";
import type { Timer } from "../base/runtime.ts";
import { Activation, type ActivationOptions } from "./activation.ts";
import type { ActiveSession } from "./backlog.ts";

/**
 * The activations of this process. A session is activated by the first command
 * for it, as long as its partition is owned; a failed activation is forgotten
 * and told, and the next command or sweep makes a new one from the record.
 */
export class ActorHost<S, E, W, C> implements QueueOwner {
  readonly #options: HostOptions<S, E, W, C>;
  readonly #activations = new Map<string, Entry<S, E, W, C>>();
  readonly #owned = new Set<number>();
  #sweeper: Timer | undefined;
  readonly #refused = { activations: 0, control: 0, requests: 0 };
  /** Others have taken these over; whether rightly is being asked. */
  readonly #disputed = new Set<string>();
  /** Their record could not be replayed when it was tried last. */
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

  /** From now on sessions of these partitions may be activated here. */
  own(...partitions: readonly number[]): void {
    for (const partition of partitions) this.#owned.add(partition);
  }

  /** Gives partitions up in good order: turns in hand are finished. */
  release(...partitions: readonly number[]): Promise<void> {
    return this.#disown(partitions, "drain");
  }

  /** The partitions are lost: their activations end at once. */
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

  /** Delivers a command; settles after its events are durable. */
  async deliver(id: string, command: C, commandId: string, deadline?: number): Promise<unknown> {
    const activation = await this.activate(id);
    return activation.ask(command, commandId, deadline);
  }

  /** The activation of a session, made when there is none. */
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

  /** It will be tried again, and fail again until somebody mends it: said once. */
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
    // One that was put away before, with a turn in hand, says nothing of its session.
    if (this.#activations.get(id)?.activation !== activation) return;
    this.#forget(id, activation);
    if (isAppError(error, "stale_epoch")) void this.#yield(id);
    else this.#options.onFailed?.(id);
  }

  /**
   * Another host has taken this one over, and two that take it from each other in turn would never
   * end. It is taken up again only when it is certain that it belongs here.
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

  /** The activations that are at work. */
  get active(): ActiveSession[] {
    return [...this.#activations.values()]
      .filter(({ activation }) => activation.phase === "active")
      .map(({ activation: { id, epoch } }) => ({ id, epoch }));
  }

  /**
   * The record knows this activation no longer: it ends at once, and is nobody's fault. Who has
   * taken it over shall keep it.
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

  /** Drains everything; the process is going away. */
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
  /** Idle milliseconds after which an activation is put away. */
  passivateAfter: number;
  /** Milliseconds between looks for idle ones. */
  sweepEvery: number;
  /** A fault ended this one's activation: what it had begun waits until it is activated again. */
  onFailed?(id: string): void;
  /**
   * Another host wrote for a session of this partition. Resolves with true when the partition
   * certainly belongs to this host; else it was given up here.
   */
  onFenced?(partition: number): Promise<boolean>;
}

interface Entry<S, E, W, C> {
  activation: Activation<S, E, W, C>;
  started: Promise<void>;
}
