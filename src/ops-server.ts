import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";

/** A figure that is read when somebody asks. */
export interface Figure {
  name: string;
  help: string;
  /** A counter only rises; a gauge is what it is now. */
  kind?: "counter" | "gauge";
  read(): number;
}

/** The operations port: `GET /metrics` in Prometheus text, `GET /health/live` and `/health/ready`. Not for the public. */
export class OpsServer {
  readonly #registry = new Registry();
  readonly #server: Server;

  /** `isReady`: false as soon as the process is stopping. */
  constructor(figures: readonly Figure[], isReady: () => boolean) {
    collectDefaultMetrics({ register: this.#registry });
    for (const figure of figures) register(this.#registry, figure);
    this.#server = createServer((request, response) => {
      if (request.url === "/metrics") {
        this.#registry.metrics().then(
          (text) =>
            response.writeHead(200, { "content-type": this.#registry.contentType }).end(text),
          () => response.writeHead(500).end(),
        );
      } else if (request.url === "/health/live") {
        response.writeHead(200, { "content-type": "application/json" }).end('{"status":"ok"}');
      } else {
        const ready = request.url === "/health/ready";
        response.writeHead(ready ? (isReady() ? 200 : 503) : 404).end();
      }
    });
  }

  /** Rejects when the port is taken. */
  start(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, host, () => {
        resolve((this.#server.address() as AddressInfo).port);
      });
    });
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
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
