import { createDeferred, type Deferred, delay } from "./deferred.ts";

/** Asked for at once without a pause; more than this, and the next question gathers for a moment. */
const FEW = 4;
const GATHER_MS = 10;
/** Bounds one question. A slow database is asked less often, so that each question must hold more. */
const MAX_KEYS = 5_000;

/**
 * Answers many look-ups with few questions: what is asked while a question is
 * under way goes into the next one, so that an answer is never older than its
 * look-up. Alone, a look-up is asked at once.
 */
export class BatchedLookup<V> {
  readonly #load: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>;
  readonly #waiting = new Map<string, Deferred<V | undefined>>();
  #busy = false;

  /** `load` gives what it finds, by key; it has to end by itself. */
  constructor(load: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>) {
    this.#load = load;
  }

  /** Undefined when there is none. Rejects as the question that held it did. */
  get(key: string): Promise<V | undefined> {
    let deferred = this.#waiting.get(key);
    if (deferred === undefined) {
      deferred = createDeferred<V | undefined>();
      this.#waiting.set(key, deferred);
    }
    if (!this.#busy) void this.#run();
    return deferred.promise;
  }

  async #run(): Promise<void> {
    this.#busy = true;
    // One microtask later, so that what is asked together goes together.
    await Promise.resolve();
    while (this.#waiting.size > 0) {
      const batch = this.#take();
      await this.#ask(batch);
      if (batch.size > FEW) await delay(GATHER_MS);
    }
    this.#busy = false;
  }

  #take(): Map<string, Deferred<V | undefined>> {
    const batch = new Map<string, Deferred<V | undefined>>();
    for (const [key, deferred] of this.#waiting) {
      if (batch.size === MAX_KEYS) break;
      batch.set(key, deferred);
      this.#waiting.delete(key);
    }
    return batch;
  }

  async #ask(batch: ReadonlyMap<string, Deferred<V | undefined>>): Promise<void> {
    try {
      const found = await this.#load([...batch.keys()]);
      for (const [key, { resolve }] of batch) resolve(found.get(key));
    } catch (error) {
      for (const { reject } of batch.values()) reject(error);
    }
  }
}
