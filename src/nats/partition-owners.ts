import { partitionOf } from "../base/partition.ts";
import type { Runtime } from "../base/runtime.ts";

/** Port: the holder of each partition, empty of those that nobody holds. Throws `unavailable`. */
export type ReadOwners = () => Promise<ReadonlyMap<number, string>>;

/** What is older is read anew when somebody asks, milliseconds. */
const OLD_MS = 1_000;

/** Which host has a session, as this process knows it: what has moved shows by who does not answer. */
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

  /** Undefined when nobody is known to have it. Throws `unavailable` when nothing is known. */
  async of(sessionId: string): Promise<string | undefined> {
    if (this.#isInDoubt) await this.#refresh();
    return this.#owners.get(partitionOf(sessionId)) || undefined;
  }

  /** The same without waiting: undefined, too, while it is in doubt. */
  known(sessionId: string): string | undefined {
    // Whoever asks has no use for its failure: the next one tries again.
    if (this.#runtime.monotonic() - this.#readAt >= OLD_MS) void this.#refresh().catch(() => {});
    return this.#isInDoubt ? undefined : this.#owners.get(partitionOf(sessionId)) || undefined;
  }

  /** Somebody who was known to have a session has not: read anew before the next one is told. */
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
