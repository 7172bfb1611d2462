import { isAppError } from "./errors.ts";

/** Reads all of the keys with one query; answers in the keys' order, undefined for what is not there. */
type ReadMany<K, V> = (keys: readonly K[]) => Promise<readonly (V | undefined)[]>;

interface Waiting<K, V> {
  key: K;
  resolve(value: V | undefined): void;
  reject(error: unknown): void;
}

/** Queries of one batch under way at a time; who comes meanwhile goes with the next. */
const UNDER_WAY = 2;
const MOST_KEYS = 100;
/** Of look-ups whose query costs little for each of its keys. */
export const MANY_KEYS = 2_000;

/**
 * Look-ups of one kind that are asked for at the same time go to the database as one query: a
 * round trip costs more than the rows. A look-up never joins a query that was sent before it was
 * asked for, so that it sees everything that was committed until then.
 */
export class LookupBatcher<K, V> {
  readonly #read: ReadMany<K, V>;
  readonly #most: number;
  #waiting: Waiting<K, V>[] = [];
  #underWay = 0;
  #scheduled = false;

  /** @param most keys of one query */
  constructor(read: ReadMany<K, V>, most = MOST_KEYS) {
    this.#read = read;
    this.#most = most;
  }

  /** Rejects with what its query rejects with; other keys suffer only by an outage. How many wait is bounded by the requests in flight. */
  get(key: K): Promise<V | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ key, resolve, reject });
      this.#schedule();
    });
  }

  /** Once the requests that came with this one have asked too. */
  #schedule(): void {
    if (this.#scheduled || this.#underWay >= UNDER_WAY || this.#waiting.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#send(this.#waiting.splice(0, this.#most));
      this.#schedule();
    });
  }

  async #send(batch: readonly Waiting<K, V>[]): Promise<void> {
    this.#underWay += 1;
    try {
      const values = await this.#read(batch.map(({ key }) => key));
      for (const [index, { resolve }] of batch.entries()) resolve(values[index]);
    } catch (error) {
      if (batch.length === 1 || (isAppError(error) && error.retryable)) {
        for (const { reject } of batch) reject(error);
      } else {
        // One that cannot be read takes none of the others with it.
        for (const each of batch) await this.#send([each]);
      }
    } finally {
      this.#underWay -= 1;
      this.#schedule();
    }
  }
}
