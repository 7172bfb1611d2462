import { errorMessage } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { PARTITIONS } from "../base/partition.ts";
import type { Runtime, Timer } from "../base/runtime.ts";
import { HostWatch } from "./host-watch.ts";
import type { LeaseTable, LeaseView, PartitionRevision } from "./lease.ts";

/** Looks per lease time; each also raises this host's counter. */
const POLLS_PER_LEASE = 6;
/** Looks per lease time of the only host: no other host has to be noticed or could take over. */
const POLLS_ALONE = 2;
/** Partitions that are released together, and freed by one statement. */
const GROUP = 16;
/** Groups that are released at the same time when the host stops. */
const LEAVING_TOGETHER = 8;

/**
 * Keeps this host's lease and its fair share of the partitions.
 *
 * Each look raises this host's counter, reads those of all hosts, takes partitions of hosts that
 * are gone, and gives back surplus ones. While the record is away nothing changes, as it may be
 * away for all hosts; but after its lease has expired a host begins nothing (`hasRight`), and
 * continues when a poll finds that no host took over.
 */
export class PartitionOwner {
  readonly #options: PartitionOwnerOptions;
  readonly #watch: HostWatch;
  readonly #owned = new Set<number>();
  /** Partitions that were given back or lost, and whose actors have not ended yet. */
  readonly #puttingAway = new Map<number, Promise<void>>();
  /** Partitions whose holder is being read. */
  readonly #asking = new Map<number, Promise<boolean>>();
  /** When the last successful look began, monotonic milliseconds. */
  #seenAt: number;
  #counter = 1;
  #timer: Timer | undefined;
  #polling: Promise<void> | undefined;
  #leaving = false;
  #stopped = false;
  /** The last successful look saw no other host and found nothing to do. */
  #isAlone = false;
  /** The view of a poll that found nothing to do: while it is unchanged, there is nothing to do. */
  #settled: { partitions: LeaseView["partitions"]; staying: string } | undefined;

  constructor(options: PartitionOwnerOptions) {
    this.#options = options;
    const { host, runtime, leaseTime } = options;
    this.#seenAt = Number.NEGATIVE_INFINITY;
    this.#watch = new HostWatch({ host, clock: runtime, leaseTime });
  }

  get owned(): ReadonlySet<number> {
    return this.#owned;
  }

  /** True while, by the lease, no other host may have taken this host's sessions. */
  hasRight(): boolean {
    return this.#options.runtime.monotonic() < this.#seenAt + this.#options.leaseTime;
  }

  /** Looks for the first time; if the record is away, later looks follow. */
  async start(): Promise<void> {
    const beganAt = this.#options.runtime.monotonic();
    await this.poll();
    this.#schedule(beganAt);
  }

  /** Looks at the leases once. Never rejects; the timer calls it. */
  async poll(): Promise<void> {
    const beganAt = this.#options.runtime.monotonic();
    try {
      await this.#poll(beganAt);
    } catch (error) {
      this.#watch.blind();
      const cause = error instanceof Error && error.cause ? errorMessage(error.cause) : undefined;
      this.#options.log.warn({ error: errorMessage(error), cause }, "leases not readable");
    }
  }

  /**
   * Must be called when another host has taken over a session of this partition. True when the
   * record, read now, says that the partition is still this host's; else it is given up before this
   * resolves. Never rejects.
   */
  dispute(partition: number): Promise<boolean> {
    const asking = this.#asking.get(partition) ?? this.#ask(partition);
    this.#asking.set(partition, asking);
    return asking.finally(() => this.#asking.delete(partition));
  }

  async #ask(partition: number): Promise<boolean> {
    if (!this.#owned.has(partition)) return false;
    const { table, log } = this.#options;
    const isHeld = await table.holds(partition).catch(() => false);
    if (isHeld && this.#owned.has(partition)) return true;
    log.warn({ partition }, "partition lost to a host that writes for it");
    await this.#lose([partition]);
    return false;
  }

  #schedule(beganAt: number): void {
    if (this.#stopped) return;
    this.#timer = this.#options.runtime.after(this.#pause(beganAt), () => {
      const began = this.#options.runtime.monotonic();
      this.#polling = this.poll().finally(() => this.#schedule(began));
    });
  }

  /**
   * The wait before the next poll, milliseconds. Where polls are rare, a failed one is repeated at
   * once, so that the lease does not expire.
   */
  #pause(beganAt: number): number {
    const { runtime, leaseTime } = this.#options;
    const usual = leaseTime / POLLS_PER_LEASE;
    if (!this.#isAlone) return usual;
    const pace = this.#seenAt >= beganAt ? leaseTime / POLLS_ALONE : usual;
    return Math.max(0, pace - (runtime.monotonic() - beganAt));
  }

  /**
   * Gives back every partition after its actors are drained, and deletes the lease. The lease is
   * kept up meanwhile, so that other hosts take each partition only when it is free.
   */
  async stop(): Promise<void> {
    this.#leaving = true;
    await this.#polling;
    const waiting = groups([...this.#owned]);
    const giveBackNext = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        await this.#giveBack(next);
      }
    };
    await Promise.all(Array.from({ length: LEAVING_TOGETHER }, giveBackNext));
    await Promise.all(this.#puttingAway.values());
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#polling;
    const { table, host } = this.#options;
    await table.forget([host]).catch(() => {});
  }

  async #poll(beganAt: number): Promise<void> {
    const { table, host } = this.#options;
    this.#counter += 1;
    const view = await table.poll({ counter: this.#counter, leaving: this.#leaving });
    this.#seenAt = beganAt;
    const alive = this.#watch.alive(view);
    const staying = [...alive].filter((each) => each === host || !view.hosts.get(each)?.leaving);
    this.#isAlone = false;
    const { partitions } = view;
    const stand = { partitions, staying: [...alive, "staying:", ...staying].join(" ") };
    if (this.#settled?.partitions === partitions && this.#settled.staying === stand.staying) {
      this.#isAlone = [...view.hosts.keys()].every((each) => each === host);
      return;
    }
    this.#settled = undefined;
    const taken = [...this.#owned].filter((each) => partitions.get(each)?.holder !== host);
    if (taken.length > 0) this.#options.log.warn({ partitions: taken.length }, "partitions lost");
    void this.#lose(taken);
    if (this.#leaving) return;
    const share = this.#shareOf(view, staying);
    const wanted = await this.#takeUpTo(share, view, alive);
    // Not awaited, because the lease must be kept up while actors end.
    const surplus = [...this.#owned].slice(share);
    for (const group of groups(surplus)) void this.#giveBack(group);
    const unknown = await this.#freeUnknown(view);
    const gone = await this.#forgetGone(view, alive);
    const isBusy = taken.length + wanted + surplus.length + unknown + gone > 0;
    if (!isBusy && this.#puttingAway.size === 0) this.#settled = stand;
  }

  /**
   * This host's fair share: as many partitions as each other host, or one more; the hosts that hold
   * most already get those.
   */
  #shareOf({ partitions }: LeaseView, staying: string[]): number {
    const { host } = this.#options;
    const held = new Map<string, number>();
    for (const { holder } of partitions.values()) held.set(holder, (held.get(holder) ?? 0) + 1);
    staying.sort((a, b) => (held.get(b) ?? 0) - (held.get(a) ?? 0) || (a < b ? -1 : 1));
    const each = Math.floor(PARTITIONS / staying.length);
    return each + (staying.indexOf(host) < PARTITIONS % staying.length ? 1 : 0);
  }

  /**
   * Frees partitions on record under this host's name that it does not own, because the answer to a
   * take was lost. No other host could take them.
   */
  async #freeUnknown({ partitions }: LeaseView): Promise<number> {
    const { table, host } = this.#options;
    const unknown = [...partitions].filter(
      ([partition, { holder }]) =>
        holder === host && !this.#owned.has(partition) && !this.#puttingAway.has(partition),
    );
    if (unknown.length > 0) await table.free(unknown.map(([partition]) => partition));
    return unknown.length;
  }

  /**
   * Deletes the leases of hosts that are gone and hold nothing, so that they are not watched for
   * ever.
   */
  async #forgetGone(view: LeaseView, alive: ReadonlySet<string>): Promise<number> {
    const holders = new Set([...view.partitions.values()].map(({ holder }) => holder));
    const gone = [...view.hosts.keys()].filter((each) => !alive.has(each) && !holders.has(each));
    if (gone.length > 0) await this.#options.table.forget(gone);
    return gone.length;
  }

  /** Takes free partitions up to `share`. Returns how many it tried to take. */
  async #takeUpTo(share: number, view: LeaseView, alive: ReadonlySet<string>): Promise<number> {
    const { table, host, log } = this.#options;
    // Each host begins at another partition, so that two that start at once rarely race.
    const first = host.split("").reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) % PARTITIONS, 7);
    const wanted: PartitionRevision[] = [];
    for (let n = 0; n < PARTITIONS && this.#owned.size + wanted.length < share; n += 1) {
      const partition = (first + n) % PARTITIONS;
      const record = view.partitions.get(partition);
      if (record === undefined || this.#owned.has(partition)) continue;
      if (this.#puttingAway.has(partition)) continue;
      if (record.holder !== host && alive.has(record.holder)) continue;
      wanted.push({ partition, revision: record.revision });
    }
    if (wanted.length === 0) return 0;
    const taken = await table.take(wanted);
    if (this.#stopped || taken.length === 0) return wanted.length;
    for (const partition of taken) this.#owned.add(partition);
    this.#options.onTaken(taken);
    this.#options.onChanged?.();
    log.info({ taken: taken.length, owned: this.#owned.size }, "partitions taken");
    return wanted.length;
  }

  #giveBack(partitions: readonly number[]): Promise<void> {
    const { table, onReleased } = this.#options;
    return this.#putAway(partitions, async (these) => {
      await onReleased(these);
      await table.free(these);
    });
  }

  #lose(partitions: readonly number[]): Promise<void> {
    return this.#putAway(partitions, (these) => this.#options.onLost(these));
  }

  /**
   * Removes those of the partitions that it owns and runs `work` for them. They are not taken again
   * before that has ended. Never rejects.
   */
  async #putAway(
    partitions: readonly number[],
    work: (these: readonly number[]) => Promise<void>,
  ): Promise<void> {
    const these = partitions.filter((partition) => this.#owned.delete(partition));
    if (these.length === 0) return;
    this.#settled = undefined;
    const working = work(these)
      .catch((error: unknown) => {
        const fields = { partitions: these, error: errorMessage(error) };
        this.#options.log.warn(fields, "partitions not freed");
      })
      .finally(() => {
        for (const partition of these) this.#puttingAway.delete(partition);
      });
    for (const partition of these) this.#puttingAway.set(partition, working);
    await working;
  }
}

function groups(partitions: readonly number[]): (readonly number[])[] {
  return Array.from({ length: Math.ceil(partitions.length / GROUP) }, (_, n) =>
    partitions.slice(n * GROUP, (n + 1) * GROUP),
  );
}

interface PartitionOwnerOptions {
  host: string;
  table: LeaseTable;
  runtime: Runtime;
  log: Log;
  /**
   * A host counts as gone after this time without a new counter, or after a third of it when its
   * connection to the record has ended too; milliseconds.
   */
  leaseTime: number;
  onTaken(partitions: readonly number[]): void;
  /** Must resolve when the actors of these partitions have ended. */
  onReleased(partitions: readonly number[]): Promise<void>;
  onLost(partitions: readonly number[]): Promise<void>;
  /**
   * Called when partitions were taken: commands for their sessions must be sent to this host from
   * now on.
   */
  onChanged?(): void;
}
