import type { Clock } from "../clock.ts";
import { errorMessage } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Runtime } from "../runtime.ts";
import { BackedOffItems } from "./backed-off-items.ts";

/** What a run of a repeated task did. */
export interface Progress {
  /** Items that were processed. */
  done: number;
  /** True when more is to be done at once. */
  more: boolean;
}

interface WorkListOptions<Item> {
  /** Most items of one run, which ends after five seconds at the latest. */
  page: number;
  /** The next items, in an order of its own, without those that have one of the keys. */
  read(limit: number, except: readonly string[]): Promise<readonly Item[]>;
  keyOf(item: Item): string;
  work(item: Item): Promise<unknown>;
  clock: Pick<Clock, "monotonic">;
  log: Log;
  /** Message of the log line for an item that failed. */
  trouble: string;
  /** Name of the key in that line, such as `session_id`. */
  field: string;
}

/** So many failures one after the other are the database's fault or the disk's, not the items'. */
const MOST_FAILURES = 5;
const RETRY_MS = 1_000;
/** Other tasks wait for a run. */
const RUN_MS = 5_000;

/**
 * Work that the record lists, done page by page. An item that fails is logged, rests, longer each
 * time, and delays no other one.
 */
export class WorkList<Item> {
  readonly #options: WorkListOptions<Item>;
  readonly #resting: BackedOffItems;

  constructor(options: WorkListOptions<Item>) {
    this.#options = options;
    this.#resting = new BackedOffItems(options.clock);
  }

  /** How many items failed when they were last tried. */
  get failing(): number {
    return this.#resting.size;
  }

  /** All of it. False when nothing of it worked for `patienceMs`. */
  async complete(patienceMs: number, runtime: Pick<Runtime, "delay">): Promise<boolean> {
    const { read, clock } = this.#options;
    let until = clock.monotonic() + patienceMs;
    while ((await read(1, [])).length > 0) {
      const { done } = await this.run();
      if (done > 0) until = clock.monotonic() + patienceMs;
      else if (clock.monotonic() >= until) return false;
      else await runtime.delay(RETRY_MS);
    }
    return true;
  }

  /** Does one page. Throws only what reading the list throws. */
  async run(): Promise<Progress> {
    const { page, read, keyOf, work, clock } = this.#options;
    const until = clock.monotonic() + RUN_MS;
    const items = this.#inOrder(await read(page, this.#resting.names()));
    let done = 0;
    let failures = 0;
    for (const item of items) {
      if (clock.monotonic() >= until) return { done, more: true };
      const key = keyOf(item);
      try {
        await work(item);
        this.#resting.worked(key);
        done += 1;
        failures = 0;
      } catch (error) {
        this.#failed(key, error);
        failures += 1;
        if (failures === MOST_FAILURES) break;
      }
    }
    return { done, more: items.length === page && done > 0 };
  }

  /** Those that failed before come last, as many of them end a run. */
  #inOrder(items: readonly Item[]): readonly Item[] {
    const isNew = (item: Item) => !this.#resting.hasFailed(this.#options.keyOf(item));
    return [...items.filter(isNew), ...items.filter((item) => !isNew(item))];
  }

  #failed(key: string, error: unknown): void {
    const { log, trouble, field } = this.#options;
    this.#resting.failed(key);
    log.error({ [field]: key, error: errorMessage(error) }, trouble);
  }
}
