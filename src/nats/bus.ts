import { ErrorCode } from "nats";
import { createDeferred } from "../base/deferred.ts";
import { AppError, errorMessage } from "../base/errors.ts";
import type { Runtime } from "../base/runtime.ts";
import { type BusOptions, connectBus } from "./connect.ts";
import { type MessageBus, NatsMessageBus, type OnRequest } from "./message-bus.ts";

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
  begin(bus: NatsMessageBus): () => void;
  end?: (() => void) | undefined;
}

/**
 * The process's bus over NATS, usable before a server was ever reached: until then nobody is there
 * to be asked, what is published is dropped, and subscriptions wait.
 */
export class Bus implements MessageBus {
  readonly #wanted = new Set<Wanted>();
  readonly #onBack: (() => void)[] = [];
  readonly #first = createDeferred<NatsMessageBus>();
  readonly #closing = new AbortController();
  #bus: NatsMessageBus | undefined;

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
      bus.#begin(new NatsMessageBus(await connectBus(options)));
    } catch (error) {
      if (!isAway(error)) throw error;
      const fields = { url: options.url, error: errorMessage(error) };
      options.log.warn(fields, "NATS cannot be reached; starting without it, and trying on");
      void bus.#tryOn(options, runtime);
    }
    return bus;
  }

  publish(subject: string, data: Uint8Array): void {
    this.#bus?.publish(subject, data);
  }

  subscribe(subject: string, onMessage: (data: Uint8Array) => void): () => void {
    return this.#want((bus) => bus.subscribe(subject, onMessage));
  }

  async request(subject: string, data: Uint8Array, ms: number): Promise<Uint8Array> {
    if (this.#bus !== undefined) return this.#bus.request(subject, data, ms);
    throw new AppError("unavailable", "Nobody is there to be asked.", { retryAfter: 1 });
  }

  serve(subject: string, onRequest: OnRequest): () => void {
    return this.#want((bus) => bus.serve(subject, onRequest));
  }

  async flush(): Promise<void> {
    await (await this.#first.promise).flush();
  }

  isClosed(): boolean {
    return this.#closing.signal.aborted || this.#bus?.isClosed() === true;
  }

  onBack(listener: () => void): void {
    this.#onBack.push(listener);
  }

  /** Round trip to the server, milliseconds. Rejects when there is no connection. */
  async rtt(): Promise<number> {
    if (this.#bus !== undefined) return this.#bus.rtt();
    throw new AppError("unavailable", "NATS was not reached yet.");
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#first.reject(new AppError("unavailable", "The bus is closed."));
    await this.#bus?.close();
  }

  #want(begin: Wanted["begin"]): () => void {
    const wanted: Wanted = { begin, end: this.#bus && begin(this.#bus) };
    this.#wanted.add(wanted);
    return () => {
      this.#wanted.delete(wanted);
      wanted.end?.();
    };
  }

  #begin(bus: NatsMessageBus): void {
    this.#bus = bus;
    for (const wanted of this.#wanted) wanted.end = wanted.begin(bus);
    bus.onBack(() => this.#back());
    this.#first.resolve(bus);
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
        const bus = new NatsMessageBus(await connectBus(options));
        if (signal.aborted) return bus.close();
        this.#begin(bus);
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
