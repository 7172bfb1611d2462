import { type IntervalHistogram, monitorEventLoopDelay, performance } from "node:perf_hooks";
import { collectDefaultMetrics, Gauge, type Registry } from "prom-client";

/** How often is looked whether the process has anything to do. */
const LOOK_MS = 1_000;
const RESOLUTION_MS = 10;
/** Share of the time that is work, from which delays are worth the watching. */
const BUSY = 0.05;
/** prom-client has a timer of its own for delays: one that never fires. */
const NEVER_MS = 2 ** 31 - 1;
const NAME = "nodejs_eventloop_lag";
const SECONDS = 1e9;

type Read = (delays: IntervalHistogram) => number;

/** As prom-client names and tells them. */
const FIGURES: readonly [name: string, help: string, read: Read][] = [
  [`${NAME}_seconds`, "Lag of event loop in seconds.", ({ max }) => max],
  [`${NAME}_min_seconds`, "The minimum recorded event loop delay.", ({ min }) => min],
  [`${NAME}_max_seconds`, "The maximum recorded event loop delay.", ({ max }) => max],
  [`${NAME}_mean_seconds`, "The mean of the recorded event loop delays.", ({ mean }) => mean],
  [
    `${NAME}_stddev_seconds`,
    "The standard deviation of the recorded event loop delays.",
    ({ stddev }) => stddev,
  ],
  [`${NAME}_p50_seconds`, "The 50th percentile of the recorded event loop delays.", percent(50)],
  [`${NAME}_p90_seconds`, "The 90th percentile of the recorded event loop delays.", percent(90)],
  [`${NAME}_p99_seconds`, "The 99th percentile of the recorded event loop delays.", percent(99)],
];

/**
 * What a process tells of the machine under it: memory, open files, collections, and how late its
 * event loop is. To watch that takes a timer every 10 ms, which is most of what a process at rest
 * would do: it runs while there is work, and nothing is late in one that has none.
 */
export function registerProcessMetrics(register: Registry): void {
  collectDefaultMetrics({ register, eventLoopMonitoringPrecision: NEVER_MS });
  for (const [name] of FIGURES) register.removeSingleMetric(name);
  const watch = new LoopDelay();
  for (const [name, help, read] of FIGURES) {
    new Gauge({
      name,
      help,
      registers: [register],
      collect() {
        this.set(watch.read(read));
      },
    });
  }
}

/** The delays of the event loop while the process works. */
export class LoopDelay {
  readonly #delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  #before = performance.eventLoopUtilization();
  #isWatching = false;
  /** When somebody read it last: what came until then is not told again. */
  #readAt = Number.NEGATIVE_INFINITY;

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

  /** In seconds; 0 when nothing was watched since all figures were read the last time. */
  read(figure: Read): number {
    const now = performance.now();
    // The figures of one answer are read together, and are of the same time.
    if (now - this.#readAt > LOOK_MS) setImmediate(() => this.#delays.reset());
    this.#readAt = now;
    return this.#delays.count === 0 ? 0 : figure(this.#delays) / SECONDS;
  }

  #share(): number {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, this.#before);
    this.#before = now;
    return utilization;
  }
}

function percent(percentile: number): Read {
  return (delays) => delays.percentile(percentile);
}
