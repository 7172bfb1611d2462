import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import { LOOP_DELAY_FIGURES, LoopDelay, WITHOUT_LOOP_DELAY } from "../base/loop-delay.ts";
import { type QueueOwner, renderQueues } from "../base/queue-metrics.ts";
import { RequestTimes } from "./request-times.ts";
import type { FrontObserver } from "./server/front-observer.ts";

/** A figure that is read when somebody asks. */
export interface Figure {
  name: string;
  help: string;
  /** A counter only rises; a gauge is what it is now. */
  kind?: "counter" | "gauge";
  read(): number;
}

/** What a process tells of itself, with what it runs on: memory, event loop, open files. */
export class OpsMetrics {
  readonly #registry = new Registry();
  readonly #queues: QueueOwner;
  readonly #loopDelay = new LoopDelay();
  #requests: RequestTimes | undefined;

  constructor(figures: readonly Figure[], queues: QueueOwner) {
    this.#queues = queues;
    collectDefaultMetrics({ register: this.#registry, ...WITHOUT_LOOP_DELAY });
    for (const name of LOOP_DELAY_FIGURES) this.#registry.removeSingleMetric(name);
    for (const figure of figures) register(this.#registry, figure);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** In the text format of Prometheus. */
  async text(): Promise<string> {
    const registered = await this.#registry.metrics();
    const requests = this.#requests?.text() ?? "";
    return `${registered}${this.#loopDelay.text()}${requests}${renderQueues(this.#queues.queues)}`;
  }

  /** Counts what a front does. */
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
