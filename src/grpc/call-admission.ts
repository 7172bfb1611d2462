import type { Metadata } from "@grpc/grpc-js";
import type { Authenticator } from "../access/authenticator.ts";
import type { Principal } from "../access/principal.ts";
import type { Clock } from "../base/clock.ts";
import { withTimeout } from "../base/deferred.ts";
import { AppError } from "../base/errors.ts";
import { Gcra, type RateLimit } from "../base/gcra.ts";
import { toGrpcFailure } from "../wire/grpc-status.ts";

export interface RpcLimits {
  /** Reading calls per key, starts of streams included. */
  read: RateLimit;
  /** Questions per key. */
  query: RateLimit;
  /** Time limit of a call whose client set none, milliseconds. */
  readMs: number;
  askMs: number;
  /** Watches that may be open at once. */
  watches: number;
  watchesPerKey: number;
  /** Audio streams that may be open at once. */
  ingests: number;
  ingestsPerKey: number;
  /** Time without a message after which an audio stream ends, milliseconds. */
  ingestIdleMs: number;
  /** A watch is too slow when more bytes than this wait for its client. */
  waitingBytes: number;
  /** Most bytes of a watch that are in flight at once. */
  inFlightBytes: number;
  /** Longest wait for a slow client during a replay, milliseconds. */
  drainTimeoutMs: number;
  /** Longest database read on behalf of a watch, milliseconds. */
  readTimeoutMs: number;
  /**
   * Silence of a session after which its watches get a heartbeat read from the database,
   * milliseconds.
   */
  quietMs: number;
}

export const DEFAULT_RPC_LIMITS: RpcLimits = {
  read: { perMinute: 1_200, burst: 300 },
  query: { perMinute: 60, burst: 20 },
  readMs: 10_000,
  askMs: 30_000,
  watches: 5_000,
  watchesPerKey: 100,
  ingests: 1_000,
  ingestsPerKey: 100,
  ingestIdleMs: 300_000,
  waitingBytes: 1024 * 1024,
  inFlightBytes: 64 * 1024,
  drainTimeoutMs: 10_000,
  readTimeoutMs: 10_000,
  quietMs: 15_000,
};

/** Ends a streaming call with a status, in the way that grpc-js documents. */
export function failStream(
  call: { emit(event: "error", error: Error): boolean },
  error: AppError,
): void {
  call.emit("error", Object.assign(new Error(error.message), toGrpcFailure(error)));
}

export type Budget = "read" | "query";

const KEY = "x-api-key";
const AUTHENTICATE_MS = 10_000;

interface CallAdmissionOptions {
  authenticator: Pick<Authenticator, "authenticate">;
  limits: RpcLimits;
  clock: Clock;
}

/**
 * Admits calls: checks the service key, its rate limit, and whether this process still takes calls.
 */
export class CallAdmission {
  readonly #authenticator: Pick<Authenticator, "authenticate">;
  readonly #budgets: Readonly<Record<Budget, Gcra>>;
  #isClosed = false;
  #admitted = 0;

  constructor({ authenticator, limits, clock }: CallAdmissionOptions) {
    this.#authenticator = authenticator;
    this.#budgets = { read: new Gcra(limits.read, clock), query: new Gcra(limits.query, clock) };
  }

  /** Number of calls admitted since the start. */
  get admitted(): number {
    return this.#admitted;
  }

  /** Returns the caller. Rejects with the AppError that the call ends with. */
  async admit(metadata: Metadata, budget: Budget): Promise<Principal> {
    if (this.#isClosed) throw stopping();
    const key = metadata.get(KEY)[0]?.toString();
    if (key === undefined) {
      throw new AppError("unauthorized", "Send a service key in the metadata `x-api-key`.");
    }
    const known = this.#authenticator.authenticate({ [KEY]: key }, ["service_key"]);
    const principal = await withTimeout(known, AUTHENTICATE_MS, "Checking the key");
    const { allowed, retryAfterSeconds: wait } = this.#budgets[budget].take(principal.id);
    if (!allowed) {
      throw new AppError("rate_limited", `Too many calls; wait ${wait} s.`, { retryAfter: wait });
    }
    this.#admitted += 1;
    return principal;
  }

  /** Refuses all calls from now on. */
  close(): void {
    this.#isClosed = true;
  }
}

/** The error that ends calls when this process stops. */
export function stopping(): AppError {
  return new AppError("unavailable", "This process is stopping: reconnect and go on elsewhere.");
}
