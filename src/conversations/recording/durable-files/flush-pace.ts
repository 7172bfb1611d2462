/** Of Node's threads for files and cryptography, by default. */
const THREADS = 4;
/** Threads that flushes leave to everything else in the process: files, names of hosts, signatures. */
const LEFT_FREE = 4;
const MOST_FLUSHES = 8;
/** Most files that are under way. */
const MOST_FILES = 64;
/** Flushes of a file: its bytes, its folder, and a share of those of the base folder. */
const FLUSHES_A_FILE = 2.25;
/** What is under way should be durable within this time, milliseconds. */
const UNDER_WAY_MS = 10_000;
/** Weight of the newest measurement. */
const WEIGHT = 0.25;

/**
 * How many flushes may run at once, by the number of threads that Node has for such work. A disk that
 * hangs keeps as many of them, and the process needs others.
 */
export function flushesAtOnce(env: NodeJS.ProcessEnv): number {
  const threads = Number(env.UV_THREADPOOL_SIZE) || THREADS;
  return Math.min(MOST_FLUSHES, Math.max(2, threads - LEFT_FREE));
}

/** How many files may be under way, and how long others wait, by the measured time of flushes. */
export class FlushPace {
  readonly #atOnce: number;
  #flushMs: number | undefined;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** @param ms how long one flush took */
  measured(ms: number): void {
    const before = this.#flushMs;
    this.#flushMs = before === undefined ? ms : before + (ms - before) * WEIGHT;
  }

  /**
   * Most files under way: as many as become durable in some seconds. At least as many as take no
   * longer together than one alone, and no more than those before anything is measured.
   */
  get files(): number {
    const least = this.#atOnce - 1;
    if (this.#flushMs === undefined) return least;
    const many = Math.floor(UNDER_WAY_MS / this.#msPerFile);
    return Math.max(least, Math.min(MOST_FILES, many));
  }

  /** How long the next file is expected to take behind so many others, milliseconds. */
  expectedMs(ahead: number): number {
    return ahead < this.#atOnce ? 0 : ahead * this.#msPerFile + 2 * (this.#flushMs ?? 0);
  }

  get #msPerFile(): number {
    return ((this.#flushMs ?? 0) * FLUSHES_A_FILE) / this.#atOnce;
  }
}
