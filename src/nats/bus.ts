import { ErrorCode } from "nats";
import { createDeferred, withTimeout } from "../base/deferred.ts";
import { AppError, errorMessage } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
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
 * The process's bus over NATS. What this process itself listens to and serves reaches it without the
 * server. Usable before a server was ever reached: until then nobody else is there to be asked, what is
 * published reaches nobody else, and subscriptions wait.
 */
export class Bus implements MessageBus {
  readonly #log: Log;
  readonly #wanted = new Set<Wanted>();
  readonly #listeners = new OwnParts<(data: Uint8Array) => void>();
  readonly #served = new OwnParts<OnRequest>();
  readonly #onBack: (() => void)[] = [];
  readonly #first = createDeferred<NatsMessageBus>();
  readonly #closing = new AbortController();
  #bus: NatsMessageBus | undefined;

  private constructor(log: Log) {
    this.#log = log;
    // Nobody may be waiting for it.
    this.#first.promise.catch(() => {});
  }

  /**
   * Connects; goes on without a connection, and tries on, when no server answers. Rejects when one
   * answers that does not let the process in.
   */
  static async open(to: Omit<BusOptions, "noEcho">, runtime: Pick<Runtime, "delay">): Promise<Bus> {
    const options = { ...to, noEcho: true };
    const bus = new Bus(to.log);
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
    if (this.isClosed()) return;
    this.#bus?.publish(subject, data);
    this.#listeners.each(subject, (listener) => this.#tell(() => listener(data)));
    this.#served.each(subject, (onRequest) => this.#tell(() => void onRequest(data)));
  }

  subscribe(subject: string, onMessage: (data: Uint8Array) => void): () => void {
    const stop = this.#want((bus) => bus.subscribe(subject, onMessage));
    const remove = this.#listeners.add(subject, onMessage);
    return () => {
      remove();
      stop();
    };
  }

  async request(subject: string, data: Uint8Array, ms: number): Promise<Uint8Array> {
    const own = this.isClosed() ? undefined : this.#served.first(subject);
    if (own !== undefined) return answerOf(own, data, ms);
    if (this.#bus !== undefined) return this.#bus.request(subject, data, ms);
    throw new AppError("unavailable", "Nobody is there to be asked.", { retryAfter: 1 });
  }

  serve(subject: string, onRequest: OnRequest): () => void {
    const stop = this.#want((bus) => bus.serve(subject, onRequest));
    const remove = this.#served.add(subject, onRequest);
    return () => {
      remove();
      stop();
    };
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

  /** One listener that fails keeps nothing from the others, or from whoever publishes. */
  #tell(listen: () => void): void {
    try {
      listen();
    } catch (error) {
      this.#log.error({ error: errorMessage(error) }, "a message could not be taken");
    }
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

/** Parts of this process by subject. */
class OwnParts<T> {
  readonly #parts = new Map<string, Set<{ part: T }>>();

  /** Returns a function that removes it. */
  add(subject: string, part: T): () => void {
    const own = { part };
    const parts = this.#parts.get(subject) ?? new Set();
    this.#parts.set(subject, parts.add(own));
    return () => {
      parts.delete(own);
      if (parts.size === 0 && this.#parts.get(subject) === parts) this.#parts.delete(subject);
    };
  }

  first(subject: string): T | undefined {
    const [own] = this.#parts.get(subject) ?? [];
    return own?.part;
  }

  /** Calls `tell` soon, as a message from elsewhere comes, with each that is there then. */
  each(subject: string, tell: (part: T) => void): void {
    const parts = this.#parts.get(subject);
    for (const own of parts ?? []) {
      queueMicrotask(() => {
        if (parts?.has(own)) tell(own.part);
      });
    }
  }
}

/** The answer of this process itself. Rejects with `timeout` when there is none after `ms`. */
async function answerOf(own: OnRequest, data: Uint8Array, ms: number): Promise<Uint8Array> {
  const answer = createDeferred<Uint8Array>();
  // Behind what was published before.
  const asked = Promise.resolve().then(() => own(data));
  asked.then((reply) => reply && answer.resolve(reply), answer.reject);
  return withTimeout(answer.promise, ms, "The answer");
}

function isAway(error: unknown): boolean {
  return error instanceof Error && AWAY.has((error as { code?: unknown }).code);
}
