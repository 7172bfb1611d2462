/** HTTP clients in a process of their own: one request under way on each connection. */
import { connect, type Socket } from "node:net";
import { answerParent } from "./answer-parent.ts";
import { quantile } from "./statistics.ts";

export interface LoadQuestion {
  port: number;
  /** Whole requests; each connection goes through them from a place of its own. */
  requests: readonly string[];
  connections: number;
  ms: number;
}

export interface LoadResult {
  perSecond: number;
  p50: number;
  p99: number;
}

const shared = Buffer.alloc(256 * 1024);

class LoadConnection {
  readonly #socket: Socket;
  readonly #requests: readonly Buffer[];
  readonly #delays: number[];
  #next: number;
  #sentAt = 0;
  #rest = 0;
  #running = true;
  #ended: (() => void) | undefined;
  #failure: Error | undefined;

  constructor(port: number, requests: readonly Buffer[], first: number, delays: number[]) {
    this.#requests = requests;
    this.#next = first;
    this.#delays = delays;
    this.#socket = connect({
      host: "127.0.0.1",
      port,
      noDelay: true,
      onread: {
        buffer: shared,
        callback: (bytes) => {
          this.#read(bytes);
          return true;
        },
      },
    });
    this.#socket.on("error", (error) => this.#fail(error));
    this.#socket.once("connect", () => this.#send());
  }

  /** Resolves when the last answer is in; rejects when one was not 2xx. */
  async end(): Promise<void> {
    this.#running = false;
    if (this.#failure === undefined) {
      await new Promise<void>((resolve) => {
        this.#ended = resolve;
      });
    }
    this.#socket.destroy();
    if (this.#failure !== undefined) throw this.#failure;
  }

  #send(): void {
    const request = this.#requests[this.#next % this.#requests.length];
    this.#next += 1;
    this.#sentAt = performance.now();
    if (request !== undefined) this.#socket.write(request);
  }

  #read(bytes: number): void {
    if (this.#rest > 0) {
      this.#rest -= bytes;
      if (this.#rest <= 0) this.#answered();
      return;
    }
    const head = shared.subarray(0, bytes);
    const end = head.indexOf("\r\n\r\n");
    if (head[9] !== 0x32 || end < 0) return this.#fail(new Error(head.toString("utf8", 0, 600)));
    const length = /\r\ncontent-length: *(\d+)/i.exec(head.toString("latin1", 0, end + 2))?.[1];
    this.#rest = end + 4 + Number(length) - bytes;
    if (this.#rest <= 0) this.#answered();
  }

  #answered(): void {
    this.#delays.push(performance.now() - this.#sentAt);
    if (this.#running) this.#send();
    else this.#ended?.();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#ended?.();
  }
}

answerParent<LoadQuestion>(async ({ port, requests, connections, ms }): Promise<LoadResult> => {
  const delays: number[] = [];
  const bytes = requests.map((request) => Buffer.from(request));
  const start = performance.now();
  const open = Array.from({ length: connections }, (_, index) => {
    return new LoadConnection(port, bytes, index * 7, delays);
  });
  await new Promise((resolve) => setTimeout(resolve, ms));
  await Promise.all(open.map((each) => each.end()));
  const seconds = (performance.now() - start) / 1000;
  return {
    perSecond: delays.length / seconds,
    p50: quantile(delays, 0.5),
    p99: quantile(delays, 0.99),
  };
});
