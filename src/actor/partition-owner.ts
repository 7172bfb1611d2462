import type { Clock } from "../base/clock.ts";
import { errorMessage } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { PARTITIONS } from "../base/partition.ts";
import type { LeaseTable, LeaseView } from "./lease.ts";

/**
 * Keeps this host's lease and its fair share of the partitions.
 *
 * Each step raises the own counter, looks at everybody's, takes partitions of
 * hosts that were silent for the lease time, and gives surplus back. While the
 * lease store is away nothing changes: nobody else can take anything either,
 * and the journal's epoch guards each write.
 */
export class PartitionOwner {
  readonly #parts: PartitionOwnerParts;
  readonly #seen = new Map<string, { counter: number; at: number }>();
  readonly #owned = new Set<number>();
  #counter = 1;
  #timer: NodeJS.Timeout | undefined;
  #stepping: Promise<void> | undefined;
  #stopped = false;

  constructor(parts: PartitionOwnerParts) {
    this.#parts = parts;
  }

  get owned(): ReadonlySet<number> {
    return this.#owned;
  }

  /** Takes the first step at once; when the lease store is not there yet, the next ones will. */
  async start(): Promise<void> {
    await this.#tryStep();
    this.#schedule();
  }

  async #tryStep(): Promise<void> {
    try {
      await this.#step();
    } catch (error) {
      this.#parts.log.warn({ error: errorMessage(error) }, "lease store not reachable");
    }
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#stepping = this.#tryStep().finally(() => this.#schedule());
    }, this.#parts.leaseTime / 4);
  }

  /** Gives every partition back, drained, and leaves. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#stepping;
    const { table, host } = this.#parts;
    await Promise.all([...this.#owned].map((partition) => this.#giveBack(partition)));
    await table.leave(host).catch(() => {});
  }

  async #step(): Promise<void> {
    const { table, host } = this.#parts;
    this.#counter += 1;
    if (!(await table.beat(host, this.#counter))) return this.#loseAll("lease taken over");
    const view = await table.read();
    const alive = this.#alive(view);
    for (const partition of [...this.#owned]) {
      if (view.partitions.get(partition)?.holder !== host) await this.#lose(partition);
    }
    const share = Math.ceil(PARTITIONS / Math.max(1, alive.size));
    await this.#takeUpTo(share, view, alive);
    const surplus = [...this.#owned].slice(share);
    await Promise.all(surplus.map((partition) => this.#giveBack(partition)));
  }

  /** Hosts whose counter moved within the lease time, by this host's own clock. */
  #alive(view: LeaseView): Set<string> {
    const now = this.#parts.clock.monotonic();
    const alive = new Set([this.#parts.host]);
    for (const [host, counter] of view.hosts) {
      const seen = this.#seen.get(host);
      if (seen === undefined || seen.counter !== counter)
        this.#seen.set(host, { counter, at: now });
      const at = this.#seen.get(host)?.at ?? now;
      if (now - at < this.#parts.leaseTime) alive.add(host);
    }
    for (const host of this.#seen.keys()) if (!view.hosts.has(host)) this.#seen.delete(host);
    return alive;
  }

  async #takeUpTo(share: number, view: LeaseView, alive: ReadonlySet<string>): Promise<void> {
    const { table, host, onTaken } = this.#parts;
    // Each host begins elsewhere, so that two that start at once rarely race.
    const first = host.split("").reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) % PARTITIONS, 7);
    const wanted: Promise<void>[] = [];
    for (let n = 0; n < PARTITIONS && this.#owned.size + wanted.length < share; n += 1) {
      const partition = (first + n) % PARTITIONS;
      const record = view.partitions.get(partition);
      const mine = record?.holder === host;
      if (this.#owned.has(partition) || (!mine && alive.has(record?.holder ?? ""))) continue;
      const taking = table.take(partition, host, record?.revision ?? 0).then((taken) => {
        if (!taken || this.#stopped) return;
        this.#owned.add(partition);
        onTaken(partition);
      });
      wanted.push(taking);
    }
    const before = this.#owned.size;
    await Promise.all(wanted);
    const taken = this.#owned.size - before;
    if (taken > 0) this.#parts.log.info({ taken, owned: this.#owned.size }, "partitions taken");
  }

  async #giveBack(partition: number): Promise<void> {
    const { table, host, onReleased } = this.#parts;
    if (!this.#owned.delete(partition)) return;
    await onReleased(partition);
    await table.free(partition, host).catch((error: unknown) => {
      this.#parts.log.warn({ partition, error: errorMessage(error) }, "partition not freed");
    });
  }

  async #lose(partition: number): Promise<void> {
    if (!this.#owned.delete(partition)) return;
    this.#parts.log.warn({ partition }, "partition lost");
    await this.#parts.onLost(partition);
  }

  async #loseAll(why: string): Promise<void> {
    this.#parts.log.error({ why }, "lease lost");
    await Promise.all([...this.#owned].map((partition) => this.#lose(partition)));
  }
}

export interface PartitionOwnerParts {
  host: string;
  table: LeaseTable;
  clock: Clock;
  log: Log;
  /** Milliseconds without a new counter after which a host counts as gone. */
  leaseTime: number;
  onTaken(partition: number): void;
  /** Resolves when the partition's actors are put away. */
  onReleased(partition: number): Promise<void>;
  onLost(partition: number): Promise<void>;
}
