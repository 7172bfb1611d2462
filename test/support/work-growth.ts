/** Something that walks what a caller gave. */
export interface WalkedInput {
  place: string;
  /** The largest legal input, in words; `size` of the unit that it names. */
  largest: string;
  size: number;
  /** Makes an input of a size, and returns what walks it. */
  prepare(size: number): () => unknown;
}

/** A sample of less than this is mostly the clock. */
const SAMPLE_MS = 2;
const ROUNDS = 3;

/**
 * How long the largest input and a tenth of it take, milliseconds. Each is the least of several rounds
 * in turn, so that what other threads and the collector do does not count.
 */
export function workOf({ size, prepare }: WalkedInput): { largest: number; tenth: number } {
  const [large, small] = [prepare(size), prepare(Math.round(size / 10))];
  const repeats = { large: repeatsOf(large), small: repeatsOf(small) };
  let [largest, tenth] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < ROUNDS; round++) {
    tenth = Math.min(tenth, timeOf(small, repeats.small));
    largest = Math.min(largest, timeOf(large, repeats.large));
  }
  return { largest, tenth };
}

function repeatsOf(work: () => unknown): number {
  let repeats = 1;
  while (repeats * timeOf(work, repeats) < SAMPLE_MS) repeats *= 2;
  return repeats;
}

/** Milliseconds for each time. */
function timeOf(work: () => unknown, repeats: number): number {
  const before = performance.now();
  for (let time = 0; time < repeats; time++) work();
  return (performance.now() - before) / repeats;
}
