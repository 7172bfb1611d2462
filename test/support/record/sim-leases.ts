import type { LeaseTable } from "../../../src/actor/lease.ts";
import type { Runtime } from "../../../src/base/runtime.ts";
import type { ReadOwners } from "../../../src/nats/partition-owners.ts";
import { guarded } from "../../../src/postgres/store-error.ts";
import { MemoryLeases } from "../memory/memory-leases.ts";
import { databaseError } from "./database-error.ts";
import type { Moods } from "./moods.ts";

/** As the service's connection for leases has it, milliseconds. */
const STATEMENT_MS = 1_200;
const SILENCE_MS = 1_300;

interface LeaseHost {
  name: string;
  /** Of the host: when it stands still nothing comes back to it. */
  runtime: Pick<Runtime, "delay">;
  isDead(): boolean;
}

/** The leases of a simulated record: one statement each, over a connection of the host's own. */
export class SimLeases {
  readonly #leases = new MemoryLeases();
  readonly #deaf = new Set<string>();
  readonly #moods: Moods;
  readonly #runtime: Pick<Runtime, "delay">;

  /** @param runtime of the database's machine */
  constructor(moods: Moods, runtime: Pick<Runtime, "delay">) {
    this.#moods = moods;
    this.#runtime = runtime;
  }

  of(host: LeaseHost): LeaseTable {
    const table = this.#leases.of(host.name);
    const ask = <T>(act: () => Promise<T>): Promise<T> => guarded(() => this.#ask(host, act));
    return {
      poll: (lease) =>
        ask(() => {
          this.#leases.cut.delete(host.name);
          return table.poll(lease);
        }),
      take: (wanted) => ask(() => table.take(wanted)),
      holds: (partition) => ask(() => table.holds(partition)),
      free: (partitions) => ask(() => table.free(partitions)),
      forget: (hosts) => ask(() => table.forget(hosts)),
    };
  }

  /** As fronts read them. */
  owners(host: LeaseHost): ReadOwners {
    return () =>
      guarded(() =>
        this.#ask(host, async () => {
          const all = [...this.#leases.partitions];
          return new Map(all.map(([partition, { holder }]) => [partition, holder]));
        }),
      );
  }

  /** Nothing comes back to the host over its connection for leases. */
  cut(host: string, isCut: boolean): void {
    if (isCut) this.#deaf.add(host);
    else this.#deaf.delete(host);
  }

  /** Who holds a partition in truth. */
  holder(partition: number): string | undefined {
    return this.#leases.partitions.get(partition)?.holder;
  }

  /** The host's process is gone, and its connection with it. */
  kill(host: string): void {
    this.#leases.cut.add(host);
  }

  async #ask<T>(host: LeaseHost, act: () => Promise<T>): Promise<T> {
    const { fault, there, back, readOnly } = this.#moods.fate(host.name, "single");
    await this.#reach(host);
    await this.#runtime.delay(Math.min(there, SILENCE_MS));
    if (readOnly) throw databaseError("25006");
    if (fault === "timed out") await this.#runtime.delay(STATEMENT_MS);
    if (fault === "timed out") throw databaseError("57014");
    if (fault === "lost" || fault === "deadlocked") throw databaseError("08006");
    const isLate = there + back > SILENCE_MS;
    const value = host.isDead() ? undefined : await act();
    await this.#reach(host);
    await host.runtime.delay(Math.min(back, SILENCE_MS));
    if (host.isDead()) return new Promise(() => {});
    if (fault === "unknown" || isLate) throw databaseError("08006");
    return value as T;
  }

  async #reach({ name, runtime, isDead }: LeaseHost): Promise<void> {
    if (isDead()) return new Promise(() => {});
    const reach = this.#deaf.has(name) ? "silent" : this.#moods.of(name).reach;
    if (reach === "open") return;
    if (reach === "silent") {
      await runtime.delay(SILENCE_MS);
      throw databaseError("08006");
    }
    // When the server itself is away, no connection tells anything of its host.
    if (this.#moods.of("").reach !== "refused") this.#leases.cut.add(name);
    throw databaseError("ECONNREFUSED");
  }
}
