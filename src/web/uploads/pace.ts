/** The newest so many milliseconds tell how fast it goes. */
const WINDOW_MS = 15_000;
/** Sooner a pace says nothing. */
const LEAST_MS = 1_500;

interface Sample {
  /** Milliseconds of any steady clock. */
  readonly at: number;
  readonly bytes: number;
}

/** How fast a file is sent of late. */
export class Pace {
  #samples: readonly Sample[] = [];

  /** So many bytes of the file had been sent at that time. */
  add(sample: Sample): void {
    const newest = this.#samples.at(-1);
    // Bytes that are sent again: what was measured before them says nothing any more.
    const before = newest !== undefined && sample.bytes < newest.bytes ? [] : this.#samples;
    this.#samples = [...before.filter(({ at }) => sample.at - at <= WINDOW_MS), sample];
  }

  /** Begins anew after a pause. */
  reset(): void {
    this.#samples = [];
  }

  /** How long the rest takes at this pace, milliseconds; undefined while nobody can tell. */
  leftMs(size: number): number | undefined {
    const [first, newest] = [this.#samples[0], this.#samples.at(-1)];
    if (first === undefined || newest === undefined) return undefined;
    const [ms, bytes] = [newest.at - first.at, newest.bytes - first.bytes];
    if (ms < LEAST_MS || bytes <= 0) return undefined;
    return ((size - newest.bytes) * ms) / bytes;
  }
}
