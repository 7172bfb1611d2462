import { AppError } from "../base/errors.ts";
import type { Runtime } from "../base/runtime.ts";

/** A session that waits asks again within this time, milliseconds; else it waits no more. */
const ASKS_AGAIN_MS = 8_000;
/** A place that is kept for a session which was woken is its own for this long, milliseconds. */
const KEPT_MS = 2_000;

interface Holder {
  readonly tenant: string | undefined;
  /** Takes the place away; the session reads on from its newest checkpoint when it has one again. */
  readonly end: (error: AppError) => void;
}

/** Who asks for a place. */
export interface Asker {
  /** The same whenever it asks again. */
  readonly id: string;
  /** Called once when a place is kept for it, after it found none. It asks again then. */
  wake(): void;
}

/** What it asks for. */
interface Wanted {
  readonly tenant: string | undefined;
  readonly engine: string;
}

interface Waiting extends Wanted {
  readonly asker: Asker;
  until: number;
}

/**
 * Shares the places of the workers among tenants while there are too few. Whoever finds none waits in
 * a queue; a place that gets free is kept for the tenant that has fewest, of its sessions the one that
 * waits longest, and that one is woken. A tenant that has none, or two fewer than another, is given
 * one of the other's. Counts the sessions of this process.
 */
export class FairSlots {
  readonly #runtime: Pick<Runtime, "monotonic">;
  /** In the order in which they were opened. */
  readonly #holders = new Set<Holder>();
  /** By id, in the order in which they asked first. */
  readonly #waiting = new Map<string, Waiting>();
  /** Ids that were woken, and until when a place is theirs. */
  readonly #kept = new Map<string, { tenant: string | undefined; until: number }>();
  /** Tenants for which another's place was ended, until they have it. */
  readonly #freed = new Map<string, number>();
  #refusedAt = Number.NEGATIVE_INFINITY;

  constructor(runtime: Pick<Runtime, "monotonic">) {
    this.#runtime = runtime;
  }

  /** True while somebody waits for a place. */
  get isCrowded(): boolean {
    return this.#runtime.monotonic() - this.#refusedAt < ASKS_AGAIN_MS;
  }

  /** @param room places that are free; false while they are kept for others alone */
  mayOpen(id: string | undefined, room: number): boolean {
    this.#forget();
    if (room <= 0) return false;
    return room > this.#kept.size || (id !== undefined && this.#kept.has(id));
  }

  /** Counts a place until the function that it returns is called. */
  take(holder: Holder, id?: string): () => void {
    this.#holders.add(holder);
    if (holder.tenant !== undefined) this.#freed.delete(holder.tenant);
    if (id !== undefined) {
      this.#kept.delete(id);
      this.#waiting.delete(id);
    }
    return () => {
      this.#holders.delete(holder);
    };
  }

  /** No place is free: queues the asker, and frees another tenant's newest if that is fair. */
  wait(wanted: Wanted, asker?: Asker): void {
    const now = this.#runtime.monotonic();
    this.#refusedAt = now;
    this.#forget();
    if (asker !== undefined) {
      const before = this.#waiting.get(asker.id);
      if (before === undefined) {
        this.#waiting.set(asker.id, { ...wanted, asker, until: now + ASKS_AGAIN_MS });
      } else {
        before.until = now + ASKS_AGAIN_MS;
      }
    }
    this.#makeRoom(wanted.tenant);
  }

  /** Wakes as many as there are places for; to be called whenever some may have got free. */
  serve(roomFor: (engine: string) => number): void {
    this.#forget();
    const woken: Asker[] = [];
    for (let next = this.#next(roomFor); next !== undefined; next = this.#next(roomFor)) {
      const { tenant, asker } = next;
      this.#waiting.delete(asker.id);
      this.#kept.set(asker.id, { tenant, until: this.#runtime.monotonic() + KEPT_MS });
      woken.push(asker);
    }
    for (const asker of woken) asker.wake();
  }

  #next(roomFor: (engine: string) => number): Waiting | undefined {
    const counts = this.#counts();
    const of = ({ tenant }: Waiting): number => counts.get(tenant) ?? 0;
    let next: Waiting | undefined;
    for (const one of this.#waiting.values()) {
      if (roomFor(one.engine) <= this.#kept.size) continue;
      if (next === undefined || of(one) < of(next)) next = one;
    }
    return next;
  }

  #makeRoom(tenant: string | undefined): void {
    if (tenant === undefined || this.#freed.has(tenant)) return;
    const counts = this.#counts();
    const newest = [...this.#holders].reverse();
    const most = Math.max(0, ...newest.map((holder) => counts.get(holder.tenant) ?? 0));
    if (most < (counts.get(tenant) ?? 0) + 2) return;
    this.#freed.set(tenant, this.#runtime.monotonic() + ASKS_AGAIN_MS);
    const reason = "Others wait for a worker, too; audio waits for its turn.";
    const holder = newest.find((each) => counts.get(each.tenant) === most);
    holder?.end(new AppError("overloaded", reason));
  }

  /** Places that each tenant has or that are kept for it. */
  #counts(): ReadonlyMap<string | undefined, number> {
    const counts = new Map<string | undefined, number>();
    for (const { tenant } of [...this.#holders, ...this.#kept.values()]) {
      counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
    }
    return counts;
  }

  #forget(): void {
    const now = this.#runtime.monotonic();
    for (const [id, { until }] of this.#waiting) if (until < now) this.#waiting.delete(id);
    for (const [id, { until }] of this.#kept) if (until < now) this.#kept.delete(id);
    for (const [tenant, until] of this.#freed) if (until < now) this.#freed.delete(tenant);
  }
}
