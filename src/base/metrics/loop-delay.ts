import { createHistogram, type Histogram, performance } from "node:perf_hooks";

/** How often it is checked whether the process is busy, milliseconds. */
const POLL_MS = 1_000;
const RESOLUTION_MS = 10;
/** Share of busy time from which delays are measured. */
const BUSY = 0.05;
const NANOSECONDS = 1e9;
const NANOSECONDS_OF_MS = 1e6;
const NAME = "nodejs_eventloop_lag";

/** Metrics with the names and help texts of prom-client. */
const FIGURES: Readonly<Record<string, [help: string, read: (of: Histogram) => number]>> = {
  [`${NAME}_seconds`]: ["Lag of event loop in seconds.", ({ max }) => max],
  [`${NAME}_min_seconds`]: ["The minimum recorded event loop delay.", ({ min }) => min],
  [`${NAME}_max_seconds`]: ["The maximum recorded event loop delay.", ({ max }) => max],
  [`${NAME}_mean_seconds`]: ["The mean of the recorded event loop delays.", ({ mean }) => mean],
  [`${NAME}_stddev_seconds`]: [
    "The standard deviation of the recorded event loop delays.",
    ({ stddev }) => stddev,
  ],
  [`${NAME}_p50_seconds`]: percentile(50),
  [`${NAME}_p90_seconds`]: percentile(90),
  [`${NAME}_p99_seconds`]: percentile(99),
};

/**
 * Setting for prom-client that disables its own event loop metrics, which would need a timer every
 * 10 ms all the time: its timer never fires. The metrics must then be removed by name.
 */
export const WITHOUT_LOOP_DELAY = { eventLoopMonitoringPrecision: 2 ** 31 - 1 } as const;
export const LOOP_DELAY_FIGURES: readonly string[] = Object.keys(FIGURES);

/**
 * Measures the event loop's delay. Measuring needs a timer every 10 ms, which is most of what an
 * idle process would do. So it runs only while the process is busy; of an idle process only what held
 * up its check is noticed, by how late that comes. Node's own `monitorEventLoopDelay` cannot be paused:
 * it takes the pause for a delay.
 */
export class LoopDelay {
  readonly #delays = createHistogram();
  #before = performance.eventLoopUtilization();
  readonly #now: () => number;
  #checkedAt: number;
  #tickedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param now a clock that never goes back, milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#checkedAt = now();
    setInterval(() => this.sample(), POLL_MS).unref();
  }

  get isWatching(): boolean {
    return this.#timer !== undefined;
  }

  /** The longest delay since the last `text()`, milliseconds. */
  get longestMs(): number {
    return this.#delays.count === 0 ? 0 : this.#delays.max / NANOSECONDS_OF_MS;
  }

  /** Measures until the next poll if the process was busy since the last one. */
  sample(share = this.#share()): void {
    const now = this.#now();
    const lateMs = now - this.#checkedAt - POLL_MS;
    this.#checkedAt = now;
    if (!this.isWatching && lateMs > RESOLUTION_MS) this.#record(lateMs);
    const isBusy = share >= BUSY;
    if (isBusy && !this.isWatching) this.#watch();
    else if (!isBusy) this.#rest();
  }

  /**
   * Metrics since the previous call in the text format of Prometheus; 0 when nothing was measured.
   */
  text(): string {
    const delays = this.#delays;
    const lines = Object.entries(FIGURES).flatMap(([name, [help, read]]) => [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} gauge`,
      `${name} ${delays.count === 0 ? 0 : read(delays) / NANOSECONDS}`,
    ]);
    delays.reset();
    return `${lines.join("\n")}\n`;
  }

  /** Called every 10 ms while it is watched; what it comes late is the delay. */
  tick(): void {
    const now = this.#now();
    this.#record(now - this.#tickedAt);
    this.#tickedAt = now;
  }

  #watch(): void {
    this.#tickedAt = this.#now();
    this.#timer = setInterval(() => this.tick(), RESOLUTION_MS).unref();
  }

  #rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #record(ms: number): void {
    this.#delays.record(Math.max(1, Math.round(ms * NANOSECONDS_OF_MS)));
  }

  #share(): number {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, this.#before);
    this.#before = now;
    return utilization;
  }
}

function percentile(share: number): [string, (of: Histogram) => number] {
  const help = `The ${share}th percentile of the recorded event loop delays.`;
  return [help, (delays) => delays.percentile(share)];
}
