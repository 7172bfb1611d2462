import { join } from "node:path";
import { AppError } from "../../src/base/errors.ts";
import { silentLog } from "../../src/base/log.ts";
import { DEFAULT_HTTP_LIMITS } from "../../src/http/server/http-limits.ts";
import { DEFAULT_RATE_LIMITS, type RateLimitSettings } from "../../src/http/server/limits.ts";
import { FrontServer } from "../../src/http/server.ts";
import { DEFAULT_LIVE_LIMITS } from "../../src/http/sockets/live-limits.ts";
import { PostgresIdempotencyStore } from "../../src/postgres/idempotency-store.ts";
import { AccountFixture } from "./account-fixture.ts";

const PLENTY = { perMinute: 1_000_000, burst: 1_000_000 };

export interface Answer {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

export interface CallOptions {
  bearer?: string;
  key?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/** The account routes behind the real front, on a free port. */
export class HttpFixture {
  readonly accounts: AccountFixture;
  readonly #front: FrontServer;
  /** Below it are the routes. */
  readonly url: string;

  private constructor(accounts: AccountFixture, front: FrontServer, port: number) {
    this.accounts = accounts;
    this.#front = front;
    this.url = `http://127.0.0.1:${port}/api`;
  }

  static async open(
    rates: Partial<RateLimitSettings> = {},
    { trustProxy = 0 } = {},
  ): Promise<HttpFixture> {
    const accounts = await AccountFixture.open();
    const nothingLive = () => Promise.reject(new AppError("not_found", "No sessions here."));
    const front = new FrontServer({
      routes: accounts.routes,
      authenticator: accounts.authenticator,
      live: {
        source: {
          follow: () => () => {},
          ...{ replay: nothingLive, snapshot: nothingLive, beat: nothingLive },
        },
        policy: { check: nothingLive },
        tickets: accounts.liveTickets,
        revocations: accounts.revocations,
        limits: DEFAULT_LIVE_LIMITS,
      },
      limits: DEFAULT_HTTP_LIMITS,
      rates: {
        ...DEFAULT_RATE_LIMITS,
        ...{ auth: PLENTY, guest_entry: PLENTY, pairing: PLENTY },
        ...rates,
      },
      idempotency: {
        store: new PostgresIdempotencyStore(accounts.pool),
        secret: accounts.keys.pepper,
      },
      allowedOrigins: [],
      uploadFolder: join(accounts.folder, "uploads"),
      trustProxy,
      host: "127.0.0.1",
      port: 0,
      log: silentLog,
    });
    const { port } = await front.start();
    return new HttpFixture(accounts, front, port);
  }

  async close(): Promise<void> {
    await this.#front.drain();
    await this.#front.stop();
    await this.accounts.close();
  }

  async call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const response = await this.raw(method, path, options);
    const body = (await response.json()) as Record<string, unknown>;
    return { status: response.status, headers: response.headers, body };
  }

  /** As `call`, with the body unread. */
  raw(method: string, path: string, options: CallOptions = {}): Promise<Response> {
    const headers = new Headers(options.headers);
    if (options.bearer !== undefined) headers.set("authorization", `Bearer ${options.bearer}`);
    if (options.key !== undefined) headers.set("x-api-key", options.key);
    if (options.body !== undefined) headers.set("content-type", "application/json");
    return fetch(this.url + path, {
      method,
      headers,
      body: options.body === undefined ? undefined : JSON.stringify(options.body),
      signal: AbortSignal.timeout(20_000),
    });
  }

  /** Where the live channel is. */
  get liveUrl(): string {
    return `${this.url.replace(/^http/, "ws")}/live`;
  }

  /** The access token of a fresh login. */
  async signIn(email: string): Promise<string> {
    return (await this.accounts.login(email)).token;
  }
}
