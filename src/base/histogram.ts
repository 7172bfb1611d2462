/** How long things took, counted by bucket, as Prometheus wants it. */
export class Histogram {
  readonly #bounds: readonly number[];
  /** Counts by bucket, not cumulative; the last bucket has no upper bound. */
  readonly #counts: Float64Array;
  #sum = 0;

  /** @param bounds upper bounds of the buckets, rising */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  add(value: number): void {
    let at = 0;
    while (value > (this.#bounds[at] ?? Number.POSITIVE_INFINITY)) at += 1;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#sum += value;
  }

  /**
   * Its lines in the text format of Prometheus, without HELP and TYPE.
   *
   * @param labels such as `route="/sessions"`, escaped; empty for none
   */
  lines(name: string, labels = ""): string[] {
    let count = 0;
    const more = labels === "" ? "" : `,${labels}`;
    const all = labels === "" ? "" : `{${labels}}`;
    const buckets = Array.from(this.#counts, (some, at) => {
      count += some;
      return `${name}_bucket{le="${this.#bounds[at] ?? "+Inf"}"${more}} ${count}`;
    });
    return [...buckets, `${name}_sum${all} ${this.#sum}`, `${name}_count${all} ${count}`];
  }
}
