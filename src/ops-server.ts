import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { OpsMetrics } from "./ops-metrics.ts";

/** The operations port: `GET /metrics` in Prometheus text, `GET /health/live` and `/health/ready`. Not for the public. */
export class OpsServer {
  readonly #server: Server;

  /** `isReady`: false as soon as the process is stopping. */
  constructor(metrics: Pick<OpsMetrics, "text" | "contentType">, isReady: () => boolean) {
    this.#server = createServer((request, response) => {
      if (request.url === "/metrics") {
        metrics.text().then(
          (text) => response.writeHead(200, { "content-type": metrics.contentType }).end(text),
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
