import { connect, type NatsConnection } from "nats";
import { delay, withTimeout } from "../src/base/deferred.ts";
import { errorMessage } from "../src/base/errors.ts";
import type { Log } from "../src/base/log.ts";
import { loginOptions, type NatsLogin } from "../src/wire/nats-login.ts";
import { WORKER_ANNOUNCE_SUBJECT } from "../src/wire/subjects.ts";
import {
  encodeWorkerAnnouncement,
  type WorkerAnnouncement,
} from "../src/wire/worker-announcement.ts";

const EVERY_MS = 1_000;
const RETRY_MS = 1_000;
const CONNECT_MS = 5_000;

interface AnnouncerOptions {
  /** NATS addresses, comma-separated. */
  natsUrl: string;
  natsLogin: NatsLogin;
  workerId: string;
  log: Log;
  /** Returns the worker's present state. */
  describe: () => WorkerAnnouncement;
}

/**
 * Announces over NATS what the worker can take, each second and at each change. While NATS is away
 * it reconnects for ever, and unsent announcements are dropped: only the newest state matters.
 */
export class Announcer {
  readonly #options: AnnouncerOptions;
  readonly #log: Log;
  readonly #stopping = new AbortController();
  #connection: NatsConnection | undefined;
  #running: Promise<void> = Promise.resolve();
  #every: NodeJS.Timeout | undefined;
  #isConnected = false;
  #isDue = false;

  constructor(options: AnnouncerOptions) {
    this.#options = options;
    this.#log = options.log.child({ part: "announce" });
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  start(): void {
    this.#every = setInterval(() => this.#publish(), EVERY_MS);
    this.#running = this.#run();
  }

  /** Announces the new state soon; changes in the same turn of the event loop share one message. */
  changed(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      this.#publish();
    });
  }

  /** Announces the state a last time and disconnects. */
  async stop(): Promise<void> {
    clearInterval(this.#every);
    this.#publish();
    this.#stopping.abort();
    const connection = this.#connection;
    if (connection !== undefined && this.#isConnected) {
      await withTimeout(connection.flush(), 1_000, "The last announcement").catch(() => {});
    }
    await connection?.close();
    await withTimeout(this.#running, CONNECT_MS + 1_000, "Leaving NATS").catch(() => {});
  }

  #publish(): void {
    const connection = this.#connection;
    if (connection === undefined || !this.#isConnected || connection.isClosed()) return;
    try {
      const data = encodeWorkerAnnouncement(this.#options.describe());
      connection.publish(WORKER_ANNOUNCE_SUBJECT, data);
    } catch (error) {
      this.#log.warn({ error: errorMessage(error) }, "could not announce the worker");
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    let complained = false;
    while (!signal.aborted) {
      try {
        await this.#runConnection();
        complained = false;
      } catch (error) {
        const fields = { error: errorMessage(error) };
        if (!complained) this.#log.warn(fields, "NATS cannot be reached; trying on");
        complained = true;
      }
      await delay(RETRY_MS, signal);
    }
  }

  /** Connects, and resolves when the connection is closed for good. */
  async #runConnection(): Promise<void> {
    const { natsUrl, natsLogin, workerId } = this.#options;
    const connection = await connect({
      ...loginOptions(natsUrl, natsLogin),
      name: `worker ${workerId}`,
      timeout: CONNECT_MS,
      maxReconnectAttempts: -1,
      reconnectTimeWait: RETRY_MS,
      pingInterval: 5_000,
      maxPingOut: 2,
    });
    if (this.#stopping.signal.aborted) return connection.close();
    this.#connection = connection;
    this.#isConnected = true;
    this.#log.info({}, "announcing over NATS");
    this.#publish();
    this.#followStatus(connection).catch(() => {});
    const error = await connection.closed();
    this.#isConnected = false;
    this.#connection = undefined;
    if (error instanceof Error) throw error;
  }

  async #followStatus(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === "disconnect") {
        this.#isConnected = false;
        this.#log.warn({}, "NATS is away; the worker goes on");
      } else if (type === "reconnect") {
        this.#isConnected = true;
        this.#log.info({}, "NATS is back");
        this.#publish();
      }
    }
  }
}
