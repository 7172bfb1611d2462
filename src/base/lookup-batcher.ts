import { isAppError } from "./errors.ts";

/** Reads all keys with one query. Answers are in the keys' order, undefined for missing ones. */
type ReadMany<K, V> = (keys: readonly K[]) => Promise<readonly (V | undefined)[]>;

interface Waiting<K, V> {
  key: K;
  resolve(value: V | undefined): void;
  reject(error: unknown): void;
}

/** Queries of one batcher that run at once; further look-ups wait for the next query. */
const UNDER_WAY = 2;
const MOST_KEYS = 100;
/** A larger batch, for queries that cost little per key. */
export const MANY_KEYS = 2_000;

/**
 * Combines look-ups that are requested at the same time into one query, because a round trip costs
 * more than the rows. A look-up never joins a query that was sent before it was requested, so it
 * sees everything that was committed until then.
 */
export class LookupBatcher<K, V> {
  readonly #read: ReadMany<K, V>;
  readonly #most: number;
  #waiting: Waiting<K, V>[] = [];
  #underWay = 0;
  #scheduled = false;

  /** @param most keys in one query */
  constructor(read: ReadMany<K, V>, most = MOST_KEYS) {
    this.#read = read;
    this.#most = most;
  }

  /**
   * Looks one key up. Rejects with the error of its query; only an outage affects several keys. The
   * number of waiting look-ups is bounded by the requests in flight.
   */
  get(key: K): Promise<V | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ key, resolve, reject });
      this.#schedule();
    });
  }

  /** Sends the query after the look-ups of the same turn have been added. */
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
        // Read one by one, so that an unreadable row fails only its own look-up.
        for (const each of batch) await this.#send([each]);
      }
    } finally {
      this.#underWay -= 1;
      this.#schedule();
    }
  }
}
