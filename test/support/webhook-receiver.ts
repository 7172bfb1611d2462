import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { vi } from "vitest";
import { until } from "./until.ts";

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  message: { type: string; timestamp: string; data: Record<string, string | number> };
}

/** What a receiver answers: a status, with a `location` perhaps, or nothing at all. */
type Reply = { status: number; location?: string } | "silence";

/** Somebody else's HTTP server: keeps what it gets and answers as it is told. */
export class WebhookReceiver {
  readonly received: Received[] = [];
  reply: (received: Received) => Reply = () => ({ status: 204 });
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        const body = Buffer.concat(parts).toString("utf8");
        const { headers, url: path = "" } = request;
        const received = { path, headers, body, message: JSON.parse(body) };
        this.received.push(received);
        const reply = this.reply(received);
        if (reply === "silence") return;
        if (reply.location !== undefined) response.setHeader("location", reply.location);
        response.writeHead(reply.status).end("words that nobody should keep");
      });
    });
  }

  static async open(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    await new Promise<void>((done) => receiver.#server.listen(0, "127.0.0.1", done));
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  types(path = "/hook"): string[] {
    return this.received.filter((each) => each.path === path).map(({ message }) => message.type);
  }

  async got(count: number, ms?: number): Promise<void> {
    await until(() => this.received.length >= count, `${count} messages`, ms);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }
}

/** Verifies as a receiver does that gets the message at once; throws when it is not genuine. */
export function verify({ headers, body }: Received, secret: string): void {
  const sent = Number(headers["webhook-timestamp"]) * 1_000;
  vi.useFakeTimers({ toFake: ["Date"], now: sent });
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
  } finally {
    vi.useRealTimers();
  }
}
