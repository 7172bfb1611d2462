import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { collectDefaultMetrics, Registry } from "prom-client";
import { type QueueOwner, renderQueues } from "../src/base/queue-metrics.ts";

export interface RunningOps {
  port: number;
  stop(): Promise<void>;
}

/**
 * A worker's operations port: `GET /metrics` in Prometheus text, `GET /health/live` and
 * `/health/ready`. Rejects when the port is taken.
 * `isReady`: false as soon as the worker is stopping.
 */
export async function startOps(
  host: string,
  port: number,
  queues: QueueOwner,
  isReady: () => boolean,
): Promise<RunningOps> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const server = createServer((request, response) => {
    if (request.url === "/health/live") return tellStatus(response, true);
    if (request.url === "/health/ready") return tellStatus(response, isReady());
    if (request.url !== "/metrics") return response.writeHead(404).end();
    return registry.metrics().then(
      (text) => {
        const head = { "content-type": registry.contentType };
        response.writeHead(200, head).end(`${text}${renderQueues(queues.queues)}`);
      },
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function tellStatus(response: ServerResponse, isWell: boolean): void {
  response
    .writeHead(isWell ? 200 : 503, { "content-type": "application/json" })
    .end(`{"status":"${isWell ? "ok" : "stopping"}"}`);
}
