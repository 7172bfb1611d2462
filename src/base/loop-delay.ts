import { type IntervalHistogram, monitorEventLoopDelay, performance } from "node:perf_hooks";

/** How often is looked whether the process has anything to do. */
const LOOK_MS = 1_000;
const RESOLUTION_MS = 10;
/** Share of the time that is work, from which delays are worth the watching. */
const BUSY = 0.05;
const NANOSECONDS = 1e9;
const NAME = "nodejs_eventloop_lag";

/** The figures have the names and the help that prom-client gives them. */
const FIGURES: Readonly<Record<string, [help: string, read: (of: IntervalHistogram) => number]>> = {
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
 * For prom-client, whose own figures of the event loop need a timer every 10 ms for as long as the
 * process runs: one that never fires. They are then to be taken out by their names.
 */
export const WITHOUT_LOOP_DELAY = { eventLoopMonitoringPrecision: 2 ** 31 - 1 } as const;
export const LOOP_DELAY_FIGURES: readonly string[] = Object.keys(FIGURES);

/**
 * How late the event loop is. To watch that takes a timer every 10 ms, which is most of what a
 * process at rest would do: it runs while there is work, and nothing is late in one that has none.
 */
export class LoopDelay {
  readonly #delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  #before = performance.eventLoopUtilization();
  #isWatching = false;

  constructor() {
    setInterval(() => this.look(), LOOK_MS).unref();
  }

  get isWatching(): boolean {
    return this.#isWatching;
  }

  /** Whether there was work since the last look decides whether delays are watched until the next. */
  look(share = this.#share()): void {
    this.#isWatching = share >= BUSY;
    if (this.#isWatching) this.#delays.enable();
    else this.#delays.disable();
  }

  /** In the text format of Prometheus: what was seen since it was told last; 0 when that is nothing. */
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

  #share(): number {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, this.#before);
    this.#before = now;
    return utilization;
  }
}

function percentile(share: number): [string, (of: IntervalHistogram) => number] {
  const help = `The ${share}th percentile of the recorded event loop delays.`;
  return [help, (delays) => delays.percentile(share)];
}
