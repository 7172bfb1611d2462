import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Data for the operations port. A call that rejects is answered with status 500. */
export interface OpsSource {
  metrics: { readonly contentType: string; text(): Promise<string> };
  /** Returns status 200 or 503, with the faults as body. */
  ready(): Promise<{ status: number; body?: unknown }>;
}

const ALIVE = { status: "ok" };

/**
 * The operations port: `GET /metrics` in Prometheus text, `GET /health/live` and `/health/ready`.
 * It must not be public.
 */
export class OpsServer {
  readonly #source: OpsSource;
  readonly #server: Server;

  constructor(source: OpsSource) {
    this.#source = source;
    this.#server = createServer((request, response) => {
      const [path = ""] = (request.url ?? "").split("?");
      this.#answer(path, response).catch(() => response.writeHead(500).end());
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

  async #answer(path: string, response: ServerResponse): Promise<void> {
    const { metrics, ready } = this.#source;
    if (path === "/metrics") {
      const text = await metrics.text();
      response.writeHead(200, { "content-type": metrics.contentType }).end(text);
    } else if (path === "/health/live") {
      sendJson(response, 200, ALIVE);
    } else if (path === "/health/ready") {
      const { status, body } = await ready();
      sendJson(response, status, body);
    } else {
      const message = "Here are /metrics, /health/live and /health/ready.";
      sendJson(response, 404, { success: false, message });
    }
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const headers = { "content-type": "application/json; charset=utf-8" };
  response.writeHead(status, headers).end(`${JSON.stringify(body)}\n`);
}
