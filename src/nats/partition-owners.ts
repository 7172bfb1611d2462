import { partitionOf } from "../base/partition.ts";
import type { Runtime } from "../base/runtime.ts";

/**
 * Reads the owner of each partition; empty text for partitions without one. Throws `unavailable`.
 */
export type ReadOwners = () => Promise<ReadonlyMap<number, string>>;

/** Owners older than this are read again on request, milliseconds. */
const OLD_MS = 1_000;

/**
 * Knows which host owns a session. Changes are noticed when a host does not answer: see `doubt`.
 */
export class PartitionOwners {
  readonly #read: ReadOwners;
  readonly #runtime: Pick<Runtime, "monotonic">;
  #owners: ReadonlyMap<number, string> = new Map();
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(read: ReadOwners, runtime: Pick<Runtime, "monotonic">) {
    this.#read = read;
    this.#runtime = runtime;
  }

  /**
   * The host of a session; undefined when none is known. Throws `unavailable` when owners cannot be
   * read.
   */
  async of(sessionId: string): Promise<string | undefined> {
    if (this.#isInDoubt) await this.#refresh();
    return this.#owners.get(partitionOf(sessionId)) || undefined;
  }

  /** Like `of`, without waiting; also undefined while the owners are in doubt. */
  known(sessionId: string): string | undefined {
    // A failure is ignored here; the next call tries again.
    if (this.#runtime.monotonic() - this.#readAt >= OLD_MS) void this.#refresh().catch(() => {});
    return this.#isInDoubt ? undefined : this.#owners.get(partitionOf(sessionId)) || undefined;
  }

  /** Marks the owners as possibly outdated, so that the next `of` reads them again. */
  doubt(): void {
    this.#readAt = Number.NEGATIVE_INFINITY;
  }

  get #isInDoubt(): boolean {
    return this.#readAt === Number.NEGATIVE_INFINITY;
  }

  #refresh(): Promise<void> {
    this.#reading ??= this.#readOnce().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readOnce(): Promise<void> {
    const beganAt = this.#runtime.monotonic();
    this.#owners = await this.#read();
    this.#readAt = beganAt;
  }
}
