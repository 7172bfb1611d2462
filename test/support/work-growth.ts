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

/** In proportion it is 10, with sorting a little more; with the square it would be 100. */
export const MOST_TIMES = 16;
/** What the event loop may be held up by one caller at a time, processor time in milliseconds. */
const MOST_MS = 50;
/** Other work on the machine makes figures larger, never smaller. */
const ATTEMPTS = 12;

/**
 * How many times as long as a tenth of it the largest input takes, and how long, milliseconds of processor
 * time; `most` is what it may take. SHOW_WORK=1 prints them.
 */
export function growthOf(walked: WalkedInput): { times: number; ms: number; most: number } {
  const most = walked.inThread === true ? Number.POSITIVE_INFINITY : MOST_MS;
  let [times, ms] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let attempt = 0; attempt < ATTEMPTS && (times > MOST_TIMES || ms > most); attempt += 1) {
    const { largest, tenth } = workOf(walked);
    times = Math.min(times, largest / tenth);
    ms = Math.min(ms, largest);
  }
  if (process.env.SHOW_WORK !== undefined) {
    console.log(
      `${walked.place} (${walked.largest}): ${ms.toFixed(2)} ms, ${times.toFixed(1)} times`,
    );
  }
  return { times, ms, most };
}

/** A sample of less than this is mostly the counter. */
const SAMPLE_MS = 30;
const ROUNDS = 3;

/**
 * Processor time of this thread for the largest input and for a tenth of it, milliseconds. Each is the
 * least of several rounds in turn, so that compiling and the collector count as little as they can.
 */
function workOf({ size, prepare }: WalkedInput): { largest: number; tenth: number } {
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
