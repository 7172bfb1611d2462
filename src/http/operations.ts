import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import { LOOP_DELAY_FIGURES, LoopDelay, WITHOUT_LOOP_DELAY } from "../base/metrics/loop-delay.ts";
import { SecondsHistogram } from "../base/metrics/seconds-histogram.ts";
import { type QueueOwner, renderQueues } from "../base/queue-metrics.ts";
import type { FrontObserver } from "./server/observer.ts";

/** A metric whose value is read on request. */
export interface Figure {
  /** `voice_…`; that of a counter, and of nothing else, ends with `_total`. */
  name: string;
  help: string;
  /** A counter only rises; a gauge is the present value. */
  kind?: "counter" | "gauge";
  read(): number;
}

/** A metric for each of a closed list of kinds, read on request. */
export interface FigureByKind {
  /** As of `Figure`. */
  name: string;
  help: string;
  kind: "counter" | "gauge";
  /** Name of the label that says the kind. */
  label: string;
  read(): ReadonlyMap<string, number>;
}

/** A metric of times. */
interface TimesFigure {
  /** `voice_…_seconds`. */
  name: string;
  help: string;
  times: SecondsHistogram;
}

/** Metrics of a process, including those of its runtime: memory, event loop, open files. */
export class OpsMetrics {
  readonly #registry = new Registry();
  readonly #queues: QueueOwner;
  readonly #loopDelay = new LoopDelay();
  readonly #times: readonly TimesFigure[];
  #requests: RequestTimes | undefined;

  constructor(
    figures: readonly Figure[],
    queues: QueueOwner,
    byKind: readonly FigureByKind[] = [],
    times: readonly TimesFigure[] = [],
  ) {
    this.#queues = queues;
    this.#times = times;
    collectDefaultMetrics({ register: this.#registry, ...WITHOUT_LOOP_DELAY });
    for (const name of LOOP_DELAY_FIGURES) this.#registry.removeSingleMetric(name);
    for (const figure of figures) register(this.#registry, figure);
    for (const figure of byKind) registerByKind(this.#registry, figure);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** All metrics in the text format of Prometheus. */
  async text(): Promise<string> {
    const registered = await this.#registry.metrics();
    const times = this.#times.map(textOf).join("");
    const requests = this.#requests?.text() ?? "";
    const queues = renderQueues(this.#queues.queues);
    return `${registered}${this.#loopDelay.text()}${requests}${times}${queues}`;
  }

  /** Returns an observer that counts what an HTTP front does. */
  observeFront(): FrontObserver {
    const registers = [this.#registry];
    const requests = new RequestTimes();
    this.#requests = requests;
    let frames = 0;
    register(this.#registry, {
      name: "voice_live_frames_sent_total",
      help: "Frames written to viewers",
      kind: "counter",
      read: () => frames,
    });
    const closes = new Counter({
      name: "voice_live_closes_total",
      help: "Viewers' sockets that this side closed, by close code",
      labelNames: ["code"],
      registers,
    });
    return {
      served: (request) => requests.add(request),
      sent: (count) => {
        frames += count;
      },
      closed: (code) => closes.inc({ code: String(code) }),
    };
  }
}

function textOf({ name, help, times }: TimesFigure): string {
  const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`, ...times.lines(name)];
  return `${lines.join("\n")}\n`;
}

/** Throws for a name that says another kind than the metric is, as readers go by it. */
function checkName(name: string, isCounter: boolean): void {
  if (name.startsWith("voice_") && name.endsWith("_total") === isCounter) return;
  throw new Error(`The ${isCounter ? "counter" : "gauge"} ${name} is named otherwise.`);
}

function register(registry: Registry, { name, help, kind, read }: Figure): void {
  checkName(name, kind === "counter");
  const registers = [registry];
  if (kind === "counter") {
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read());
      },
    });
    return;
  }
  new Gauge({
    name,
    help,
    registers,
    collect() {
      this.set(read());
    },
  });
}

function registerByKind(registry: Registry, figure: FigureByKind): void {
  const { name, help, kind, label, read } = figure;
  checkName(name, kind === "counter");
  const common = { name, help, labelNames: [label], registers: [registry] };
  if (kind === "counter") {
    new Counter({
      ...common,
      collect() {
        this.reset();
        for (const [each, count] of read()) this.inc({ [label]: each }, count);
      },
    });
    return;
  }
  new Gauge({
    ...common,
    collect() {
      this.reset();
      for (const [each, value] of read()) this.set({ [label]: each }, value);
    },
  });
}

type Served = Parameters<FrontObserver["served"]>[0];

const NAME = "voice_http_request_seconds";
const HELP = "Requests by route and status, and how long they took";
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/**
 * Request durations as a histogram. Requests are counted through nested maps: building a label text
 * for each would cost as much as everything else in a small answer.
 */
export class RequestTimes {
  readonly #routes = new Map<string, Map<string, Map<number, SecondsHistogram>>>();

  /** Labels are route paths and status codes, so their number is bounded. */
  add({ method, route, status, seconds }: Served): void {
    const methods = getOrMake(
      this.#routes,
      route,
      () => new Map<string, Map<number, SecondsHistogram>>(),
    );
    const statuses = getOrMake(methods, known(method), () => new Map<number, SecondsHistogram>());
    getOrMake(statuses, status, () => new SecondsHistogram()).add(seconds);
  }

  /**
   * The histogram in the text format of Prometheus. Labels come from this service and need no
   * escaping.
   */
  text(): string {
    const lines = [`# HELP ${NAME} ${HELP}`, `# TYPE ${NAME} histogram`];
    for (const [route, methods] of this.#routes) {
      for (const [method, statuses] of methods) {
        for (const [status, times] of statuses) {
          const labels = `method="${method}",route="${route}",status="${status}"`;
          lines.push(...times.lines(NAME, labels));
        }
      }
    }
    return `${lines.join("\n")}\n`;
  }
}

function getOrMake<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** The method's label. Methods that callers invent share one label. */
function known(method: string): string {
  return METHODS.has(method) ? method : "other";
}
