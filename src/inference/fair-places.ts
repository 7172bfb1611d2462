import { AppError } from "../base/errors.ts";
import type { Runtime } from "../base/runtime.ts";

/** A session that waits asks again within this time, milliseconds. */
const ASKS_AGAIN_MS = 8_000;

interface Holder {
  readonly tenant: string | undefined;
  /** Takes the place away; the session reads on from its newest checkpoint when it has one again. */
  readonly end: (error: AppError) => void;
}

/**
 * Shares the places of the workers among tenants while there are too few: a tenant that has none,
 * or two fewer than another, gets one of the other's, and then it is kept for it until it asks again.
 * Counts the sessions of this process.
 */
export class FairPlaces {
  readonly #runtime: Pick<Runtime, "monotonic">;
  /** In the order in which they were opened. */
  readonly #holders = new Set<Holder>();
  /** Tenants for which a place was freed, and until when it is theirs. */
  readonly #kept = new Map<string, number>();
  #refusedAt = Number.NEGATIVE_INFINITY;

  constructor(runtime: Pick<Runtime, "monotonic">) {
    this.#runtime = runtime;
  }

  /** True while somebody waits for a place. */
  get isCrowded(): boolean {
    return this.#runtime.monotonic() - this.#refusedAt < ASKS_AGAIN_MS;
  }

  /** False while what is free is kept for others alone. */
  mayOpen(tenant: string | undefined): boolean {
    const now = this.#runtime.monotonic();
    for (const [other, until] of this.#kept) if (until < now) this.#kept.delete(other);
    return this.#kept.size === 0 || (tenant !== undefined && this.#kept.has(tenant));
  }

  /** Counts a place until the function that it returns is called. */
  take(holder: Holder): () => void {
    this.#holders.add(holder);
    if (holder.tenant !== undefined) this.#kept.delete(holder.tenant);
    return () => {
      this.#holders.delete(holder);
    };
  }

  /** No place is free for the tenant: frees the newest of the one that has most, if that is fair. */
  makeRoom(tenant: string | undefined): void {
    this.#refusedAt = this.#runtime.monotonic();
    if (tenant === undefined || this.#kept.has(tenant)) return;
    const own = this.#count(tenant);
    const newest = [...this.#holders].reverse();
    const counts = newest.map((holder) => this.#count(holder.tenant));
    const most = Math.max(0, ...counts);
    if (most < own + 2) return;
    this.#kept.set(tenant, this.#runtime.monotonic() + ASKS_AGAIN_MS);
    const reason = "Others wait for a worker, too; audio waits for its turn.";
    newest[counts.indexOf(most)]?.end(new AppError("overloaded", reason));
  }

  #count(tenant: string | undefined): number {
    let count = 0;
    for (const holder of this.#holders) if (holder.tenant === tenant) count += 1;
    return count;
  }
}
