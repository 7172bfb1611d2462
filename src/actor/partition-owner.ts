import { errorMessage } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { PARTITIONS } from "../base/partition.ts";
import type { Runtime, Timer } from "../base/runtime.ts";
import { HostWatch } from "./host-watch.ts";
import type { LeaseTable, LeaseView } from "./lease.ts";

/** Looks per lease time; each raises the own counter as well. */
const LOOKS_PER_LEASE = 6;
/** Partitions put away at the same time when the host leaves. */
const LEAVING_TOGETHER = 8;

/** Within it a lease store that never answered is one that is about to. */
const START_MS = 15_000;

/**
 * Keeps this host's lease and its fair share of the partitions.
 *
 * Each look raises the own counter, reads everybody's, takes partitions of
 * hosts that are gone, and gives surplus back. While the lease store is away
 * nothing changes, as it may be away for all: the journal's epoch guards each
 * write. When that shows that others have not been blind, everything is given
 * up until a look finds it here again.
 */
export class PartitionOwner {
  readonly #startedAt: number;
  /** The lease store has answered once. */
  #hasSeen = false;
  readonly #parts: PartitionOwnerParts;
  readonly #watch: HostWatch;
  readonly #owned = new Set<number>();
  /** Given back or lost, and their actors not yet put away. */
  readonly #puttingAway = new Map<number, Promise<void>>();
  /** Partitions about which the lease store is being asked. */
  readonly #asking = new Map<number, Promise<boolean>>();
  /** When the last look that succeeded began, monotonic milliseconds. */
  #seenAt: number;
  #counter = 1;
  #timer: Timer | undefined;
  #looking: Promise<void> | undefined;
  #leaving = false;
  #stopped = false;

  constructor(parts: PartitionOwnerParts) {
    this.#parts = parts;
    const { host, table, runtime, leaseTime } = parts;
    this.#startedAt = runtime.monotonic();
    this.#seenAt = this.#startedAt;
    this.#watch = new HostWatch({ host, table, clock: runtime, leaseTime });
  }

  get owned(): ReadonlySet<number> {
    return this.#owned;
  }

  /** Looks for the first time at once; when the lease store is not there yet, the next ones will. */
  async start(): Promise<void> {
    await this.look();
    this.#schedule();
  }

  /** One look at the leases. Never rejects; the timer calls it. */
  async look(): Promise<void> {
    const beganAt = this.#parts.runtime.monotonic();
    try {
      await this.#look();
      this.#hasSeen = true;
      this.#seenAt = beganAt;
    } catch (error) {
      this.#watch.blind();
      const cause = error instanceof Error && error.cause ? errorMessage(error.cause) : undefined;
      const fields = { error: errorMessage(error), cause };
      if (this.#isStarting()) this.#parts.log.debug(fields, "lease store not there yet");
      else this.#parts.log.warn(fields, "lease store not reachable");
    }
  }

  /** Servers that start together elect who leads them first: no fault, unless it takes long. */
  #isStarting(): boolean {
    return !this.#hasSeen && this.#parts.runtime.monotonic() - this.#startedAt < START_MS;
  }

  /**
   * Another host has taken over a session of this partition. True when the lease store says, asked
   * now, that the partition is this host's all the same; else it is given up before this resolves.
   * Never rejects.
   */
  dispute(partition: number): Promise<boolean> {
    const asking = this.#asking.get(partition) ?? this.#ask(partition);
    this.#asking.set(partition, asking);
    return asking.finally(() => this.#asking.delete(partition));
  }

  async #ask(partition: number): Promise<boolean> {
    if (!this.#owned.has(partition)) return false;
    const { runtime, leaseTime, log } = this.#parts;
    // So long without a look, this host is gone to the others, and with it all that it held.
    if (runtime.monotonic() - this.#seenAt >= leaseTime / 2) {
      await this.#loseAll("others have taken over");
      return false;
    }
    const isHeld = await this.#holds(partition).catch(() => false);
    if (isHeld && this.#owned.has(partition)) return true;
    log.warn({ partition }, "partition lost to a host that writes for it");
    await this.#lose(partition);
    return false;
  }

  /** What is read may lag behind; a write at the revision that was read does not. */
  async #holds(partition: number): Promise<boolean> {
    const { table, host } = this.#parts;
    const record = (await table.read()).partitions.get(partition);
    return record?.holder === host && (await table.take(partition, host, record.revision));
  }

  #schedule(): void {
    if (this.#stopped) return;
    const { runtime, leaseTime } = this.#parts;
    this.#timer = runtime.after(leaseTime / LOOKS_PER_LEASE, () => {
      this.#looking = this.look().finally(() => this.#schedule());
    });
  }

  /**
   * Gives every partition back, drained, and leaves. The lease is kept up
   * meanwhile: others take each partition when it is free, and none before.
   */
  async stop(): Promise<void> {
    this.#leaving = true;
    await this.#looking;
    const waiting = [...this.#owned];
    const giveBackNext = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        await this.#giveBack(next);
      }
    };
    await Promise.all(Array.from({ length: LEAVING_TOGETHER }, giveBackNext));
    await Promise.all(this.#puttingAway.values());
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#looking;
    const { table, host } = this.#parts;
    await table.leave(host).catch(() => {});
  }

  async #look(): Promise<void> {
    const { table, host } = this.#parts;
    this.#counter += 1;
    const lease = { counter: this.#counter, leaving: this.#leaving };
    if (!(await table.beat(host, lease))) return this.#loseAll("lease taken over");
    const view = await table.read();
    const alive = await this.#watch.alive(view);
    const taken = [...this.#owned].filter((each) => view.partitions.get(each)?.holder !== host);
    if (taken.length > 0) this.#parts.log.warn({ partitions: taken.length }, "partitions lost");
    for (const partition of taken) void this.#lose(partition);
    if (this.#leaving) return;
    const staying = [...alive].filter((each) => !view.hosts.get(each)?.leaving);
    const share = Math.ceil(PARTITIONS / Math.max(1, staying.length));
    await this.#takeUpTo(share, view, alive);
    // Not awaited: while actors are put away the lease has to be kept up.
    for (const partition of [...this.#owned].slice(share)) void this.#giveBack(partition);
    await this.#freeUnknown(view);
    await this.#forgetGone(view, alive);
  }

  /**
   * Frees what stands under this host's name and is not its own: the answer to a take got lost, or
   * a look that lagged behind it made it seem lost. Nobody else could take it.
   */
  async #freeUnknown({ partitions }: LeaseView): Promise<void> {
    const { table, host } = this.#parts;
    const unknown = [...partitions].filter(
      ([partition, { holder }]) =>
        holder === host && !this.#owned.has(partition) && !this.#puttingAway.has(partition),
    );
    await Promise.all(unknown.map(([partition]) => table.free(partition, host)));
  }

  /** A host that is gone and holds nothing any more is not looked at for ever. */
  async #forgetGone(view: LeaseView, alive: ReadonlySet<string>): Promise<void> {
    const holders = new Set([...view.partitions.values()].map(({ holder }) => holder));
    const gone = [...view.hosts.keys()].filter((each) => !alive.has(each) && !holders.has(each));
    await Promise.all(gone.map((each) => this.#parts.table.leave(each)));
  }

  async #takeUpTo(share: number, view: LeaseView, alive: ReadonlySet<string>): Promise<void> {
    const { table, host } = this.#parts;
    // Each host begins elsewhere, so that two that start at once rarely race.
    const first = host.split("").reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) % PARTITIONS, 7);
    const wanted: Promise<void>[] = [];
    for (let n = 0; n < PARTITIONS && this.#owned.size + wanted.length < share; n += 1) {
      const partition = (first + n) % PARTITIONS;
      const record = view.partitions.get(partition);
      const mine = record?.holder === host;
      if (this.#owned.has(partition) || this.#puttingAway.has(partition)) continue;
      if (!mine && alive.has(record?.holder ?? "")) continue;
      const taking = table.take(partition, host, record?.revision ?? 0);
      wanted.push(taking.then((taken) => this.#took(partition, taken)));
    }
    const before = this.#owned.size;
    await Promise.all(wanted);
    const taken = this.#owned.size - before;
    if (taken > 0) this.#parts.log.info({ taken, owned: this.#owned.size }, "partitions taken");
  }

  #took(partition: number, taken: boolean): void {
    if (!taken || this.#stopped) return;
    this.#owned.add(partition);
    this.#parts.onTaken(partition);
  }

  #giveBack(partition: number): Promise<void> {
    const { table, host, onReleased } = this.#parts;
    return this.#putAway(partition, async () => {
      await onReleased(partition);
      await table.free(partition, host);
    });
  }

  #lose(partition: number): Promise<void> {
    return this.#putAway(partition, () => this.#parts.onLost(partition));
  }

  /** Never rejects; the partition is not taken again before it is through. */
  async #putAway(partition: number, work: () => Promise<void>): Promise<void> {
    if (!this.#owned.delete(partition)) return;
    const working = work()
      .catch((error: unknown) => {
        this.#parts.log.warn({ partition, error: errorMessage(error) }, "partition not freed");
      })
      .finally(() => this.#puttingAway.delete(partition));
    this.#puttingAway.set(partition, working);
    await working;
  }

  async #loseAll(why: string): Promise<void> {
    this.#parts.log.warn({ why, partitions: this.#owned.size }, "lease lost");
    await Promise.all([...this.#owned].map((partition) => this.#lose(partition)));
  }
}

export interface PartitionOwnerParts {
  host: string;
  table: LeaseTable;
  runtime: Runtime;
  log: Log;
  /**
   * Milliseconds without a new counter after which a host counts as gone; half
   * of it when its connection to the lease store is gone as well.
   */
  leaseTime: number;
  onTaken(partition: number): void;
  /** Resolves when the partition's actors are put away. */
  onReleased(partition: number): Promise<void>;
  onLost(partition: number): Promise<void>;
}
