/** Something that walks what a caller gave. */
export interface WalkedInput {
  place: string;
  /** The largest legal input, in words; `size` of the unit that it names. */
  largest: string;
  size: number;
  /** True where a thread of its own does it, so that it may take longer than on the event loop. */
  inThread?: boolean;
  /** Makes an input of a size, and returns what walks it. */
  prepare(size: number): () => unknown;
}

/** A sample of less than this is mostly the counter. */
const SAMPLE_MS = 30;
const ROUNDS = 3;

/**
 * Processor time of this thread for the largest input and for a tenth of it, milliseconds. Each is the
 * least of several rounds in turn, so that compiling and the collector count as little as they can.
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
  // What is compiled at first would count as work.
  work();
  let repeats = 1;
  while (repeats * timeOf(work, repeats) < SAMPLE_MS) repeats *= 2;
  return repeats;
}

/** Milliseconds for each time. */
function timeOf(work: () => unknown, repeats: number): number {
  const before = process.threadCpuUsage();
  for (let time = 0; time < repeats; time++) work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000 / repeats;
}
