import { ErrorCode } from "nats";
import { createDeferred } from "../base/deferred.ts";
import { AppError, errorMessage } from "../base/errors.ts";
import type { Runtime } from "../base/runtime.ts";
import { type BusOptions, connectBus } from "./connect.ts";
import { type Line, NatsLine, type OnRequest } from "./line.ts";

const RETRY_MS = 1_000;

/** Codes of errors that say that no server was reached: all others are mistakes in the settings. */
const AWAY: ReadonlySet<unknown> = new Set([
  ErrorCode.ConnectionRefused,
  ErrorCode.ConnectionTimeout,
  ErrorCode.ConnectionClosed,
  ErrorCode.Disconnect,
  ErrorCode.Timeout,
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
]);

/** A subscription, from before the connection on. */
interface Wanted {
  begin(line: NatsLine): () => void;
  end?: (() => void) | undefined;
}

/**
 * The process's line over NATS, usable before a server was ever reached: until then nobody is there
 * to be asked, what is published is dropped, and subscriptions wait.
 */
export class Bus implements Line {
  readonly #wanted = new Set<Wanted>();
  readonly #onBack: (() => void)[] = [];
  readonly #first = createDeferred<NatsLine>();
  readonly #closing = new AbortController();
  #line: NatsLine | undefined;

  private constructor() {
    // Nobody may be waiting for it.
    this.#first.promise.catch(() => {});
  }

  /**
   * Connects; goes on without a connection, and tries on, when no server answers. Rejects when one
   * answers that does not let the process in.
   */
  static async open(options: BusOptions, runtime: Pick<Runtime, "delay">): Promise<Bus> {
    const bus = new Bus();
    try {
      bus.#begin(new NatsLine(await connectBus(options)));
    } catch (error) {
      if (!isAway(error)) throw error;
      const fields = { url: options.url, error: errorMessage(error) };
      options.log.warn(fields, "NATS cannot be reached; starting without it, and trying on");
      void bus.#tryOn(options, runtime);
    }
    return bus;
  }

  publish(subject: string, data: Uint8Array): void {
    this.#line?.publish(subject, data);
  }

  subscribe(subject: string, onMessage: (data: Uint8Array) => void): () => void {
    return this.#want((line) => line.subscribe(subject, onMessage));
  }

  async request(subject: string, data: Uint8Array, ms: number): Promise<Uint8Array> {
    if (this.#line !== undefined) return this.#line.request(subject, data, ms);
    throw new AppError("unavailable", "Nobody is there to be asked.", { retryAfter: 1 });
  }

  serve(subject: string, onRequest: OnRequest): () => void {
    return this.#want((line) => line.serve(subject, onRequest));
  }

  async flush(): Promise<void> {
    await (await this.#first.promise).flush();
  }

  isClosed(): boolean {
    return this.#closing.signal.aborted || this.#line?.isClosed() === true;
  }

  onBack(listener: () => void): void {
    this.#onBack.push(listener);
  }

  /** Round trip to the server, milliseconds. Rejects when there is no connection. */
  async rtt(): Promise<number> {
    if (this.#line !== undefined) return this.#line.rtt();
    throw new AppError("unavailable", "NATS was not reached yet.");
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#first.reject(new AppError("unavailable", "The line is closed."));
    await this.#line?.close();
  }

  #want(begin: Wanted["begin"]): () => void {
    const wanted: Wanted = { begin, end: this.#line && begin(this.#line) };
    this.#wanted.add(wanted);
    return () => {
      this.#wanted.delete(wanted);
      wanted.end?.();
    };
  }

  #begin(line: NatsLine): void {
    this.#line = line;
    for (const wanted of this.#wanted) wanted.end = wanted.begin(line);
    line.onBack(() => this.#back());
    this.#first.resolve(line);
  }

  #back(): void {
    for (const listener of this.#onBack) listener();
  }

  async #tryOn(options: BusOptions, runtime: Pick<Runtime, "delay">): Promise<void> {
    const { signal } = this.#closing;
    const { log } = options;
    let told = "";
    while (!signal.aborted) {
      await runtime.delay(RETRY_MS, signal);
      if (signal.aborted) return;
      try {
        const line = new NatsLine(await connectBus(options));
        if (signal.aborted) return line.close();
        this.#begin(line);
        log.info({}, "NATS is reached");
        return this.#back();
      } catch (error) {
        const text = errorMessage(error);
        if (text !== told) log.warn({ error: text }, "NATS cannot be reached; trying on");
        told = text;
      }
    }
  }
}

function isAway(error: unknown): boolean {
  return error instanceof Error && AWAY.has((error as { code?: unknown }).code);
}
