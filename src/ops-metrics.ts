import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { type QueueOwner, renderQueues } from "./base/queue-metrics.ts";
import type { FrontObserver } from "./front/front-observer.ts";

/** A figure that is read when somebody asks. */
export interface Figure {
  name: string;
  help: string;
  /** A counter only rises; a gauge is what it is now. */
  kind?: "counter" | "gauge";
  read(): number;
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** What a process tells of itself, with what it runs on: memory, event loop, open files. */
export class OpsMetrics {
  readonly #registry = new Registry();
  readonly #queues: QueueOwner;

  constructor(figures: readonly Figure[], queues: QueueOwner) {
    this.#queues = queues;
    collectDefaultMetrics({ register: this.#registry });
    for (const figure of figures) register(this.#registry, figure);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** In the text format of Prometheus. */
  async text(): Promise<string> {
    return `${await this.#registry.metrics()}${renderQueues(this.#queues.queues)}`;
  }

  /** Counts what a front does. Labels are the contract's paths and codes: their number is bounded. */
  observeFront(): FrontObserver {
    const registers = [this.#registry];
    const requests = new Histogram({
      name: "voice_http_request_seconds",
      help: "Requests by route and status, and how long they took",
      labelNames: ["method", "route", "status"],
      buckets: SECONDS,
      registers,
    });
    const frames = new Counter({
      name: "voice_live_frames_sent_total",
      help: "Frames written to viewers",
      registers,
    });
    const closes = new Counter({
      name: "voice_live_closes_total",
      help: "Viewers' sockets that this side closed, by close code",
      labelNames: ["code"],
      registers,
    });
    return {
      served: ({ method, route, status, seconds }) => {
        requests.observe({ method: known(method), route, status: String(status) }, seconds);
      },
      sent: (count) => frames.inc(count),
      closed: (code) => closes.inc({ code: String(code) }),
    };
  }
}

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** A caller may invent methods: they make no series of their own. */
function known(method: string): string {
  return METHODS.has(method) ? method : "other";
}

function register(registry: Registry, { name, help, kind, read }: Figure): void {
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
