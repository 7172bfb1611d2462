/** Upper bounds of the buckets, seconds. */
const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** How long something took each time, as Prometheus counts it. */
export class SecondsHistogram {
  /** Counts by bucket, not cumulative; the last bucket has no upper bound. */
  readonly #counts = new Float64Array(BOUNDS.length + 1);
  #sum = 0;

  add(seconds: number): void {
    let at = 0;
    while (seconds > (BOUNDS[at] ?? Number.POSITIVE_INFINITY)) at += 1;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#sum += seconds;
  }

  /** Its lines in the text format of Prometheus. `labels`: such as `method="GET"`, or none. */
  lines(name: string, labels = ""): string[] {
    let count = 0;
    const more = labels === "" ? "" : `,${labels}`;
    const of = labels === "" ? "" : `{${labels}}`;
    const buckets = Array.from(this.#counts, (some, at) => {
      count += some;
      return `${name}_bucket{le="${BOUNDS[at] ?? "+Inf"}"${more}} ${count}`;
    });
    return [...buckets, `${name}_sum${of} ${this.#sum}`, `${name}_count${of} ${count}`];
  }
}
