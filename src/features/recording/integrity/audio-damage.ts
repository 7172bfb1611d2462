import type { Clock } from "../../../base/clock.ts";
import type { AudioDamageStore, DamageCount } from "./audio-damage-store.ts";

/** Looks at most once in this time, milliseconds, however often health is asked. */
const EVERY_MS = 1_000;

/** How much stored audio of the whole service is damaged, as health and metrics tell it. */
export class AudioDamage {
  readonly #store: Pick<AudioDamageStore, "count">;
  readonly #clock: Pick<Clock, "monotonic">;
  #last: DamageCount = { chunks: 0, sessions: 0, recent: 0 };
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(store: Pick<AudioDamageStore, "count">, clock: Pick<Clock, "monotonic">) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Of the last poll. */
  get chunks(): number {
    return this.#last.chunks;
  }

  /** Looks, unless somebody just did. Rejects with `unavailable`. */
  async refresh(): Promise<DamageCount> {
    if (this.#clock.monotonic() - this.#lookedAt < EVERY_MS) return this.#last;
    this.#last = await this.#store.count();
    this.#lookedAt = this.#clock.monotonic();
    return this.#last;
  }
}
