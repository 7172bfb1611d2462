import type { Metadata } from "@grpc/grpc-js";
import type { Authenticator } from "../access/authenticator.ts";
import type { Principal } from "../access/principal.ts";
import { secretHash } from "../access/secrets.ts";
import type { Clock } from "../base/clock.ts";
import { withTimeout } from "../base/deferred.ts";
import { AppError } from "../base/errors.ts";
import { Gcra, type RateLimit } from "../base/gcra.ts";
import type { CallHead } from "../wire/grpc-gate.ts";
import { toGrpcFailure } from "../wire/grpc-status.ts";

export interface RpcLimits {
  /** Reading calls per key, starts of streams included. */
  read: RateLimit;
  /** Questions per key. */
  query: RateLimit;
  /** Keys of one address that have to be looked up, because none like them was valid lately. */
  newKeys: RateLimit;
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
  /** Longest wait for the first message of a call, milliseconds. */
  messageMs: number;
  /** Longest time of a call of reflection or health, milliseconds. */
  callMs: number;
}

export const DEFAULT_RPC_LIMITS: RpcLimits = {
  read: { perMinute: 1_200, burst: 300 },
  query: { perMinute: 60, burst: 20 },
  newKeys: { perMinute: 60, burst: 60 },
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
  messageMs: 10_000,
  callMs: 300_000,
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
/** Most valid keys that are remembered. */
const MAX_SEEN = 10_000;
/** The only method that needs no key: load balancers ask it. */
const OPEN_METHOD = "/grpc.health.v1.Health/Check";

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
  readonly #newKeys: Gcra;
  /** Hashes of keys that were valid when they were last checked, the oldest first. */
  readonly #seen = new Set<string>();
  /** Who makes a call, by the call's metadata. */
  readonly #callers = new WeakMap<Metadata, Principal>();
  #isClosed = false;
  #admitted = 0;

  constructor({ authenticator, limits, clock }: CallAdmissionOptions) {
    this.#authenticator = authenticator;
    this.#budgets = { read: new Gcra(limits.read, clock), query: new Gcra(limits.query, clock) };
    this.#newKeys = new Gcra(limits.newKeys, clock);
  }

  /** Number of calls admitted since the start. */
  get admitted(): number {
    return this.#admitted;
  }

  /** Judges a call before any of its messages is read. */
  async judge({ path, metadata, network }: CallHead): Promise<"known" | "open"> {
    if (path === OPEN_METHOD) return "open";
    if (this.#isClosed) throw stopping();
    const key = metadata.get(KEY)[0]?.toString();
    if (key === undefined) {
      throw new AppError("unauthorized", "Send a service key in the metadata `x-api-key`.");
    }
    this.#callers.set(metadata, await this.#recognise(key, network));
    return "known";
  }

  /** Returns the caller of a judged call. Throws the AppError that the call ends with. */
  admit(metadata: Metadata, budget: Budget): Principal {
    if (this.#isClosed) throw stopping();
    const principal = this.#callers.get(metadata);
    if (principal === undefined) throw new AppError("unauthorized", "Send a service key.");
    const { allowed, retryAfterSeconds: wait } = this.#budgets[budget].take(principal.id);
    if (!allowed) throw tooMany("calls", wait);
    this.#admitted += 1;
    return principal;
  }

  /** Checks a key; one that was not valid lately costs its address something. */
  async #recognise(key: string, network: string): Promise<Principal> {
    const hash = Buffer.from(secretHash(key)).toString("base64");
    if (!this.#seen.has(hash)) {
      const { allowed, retryAfterSeconds: wait } = this.#newKeys.take(network);
      if (!allowed) throw tooMany("unknown keys", wait);
    }
    this.#seen.delete(hash);
    const known = this.#authenticator.authenticate({ [KEY]: key }, ["service_key"]);
    const principal = await withTimeout(known, AUTHENTICATE_MS, "Checking the key");
    this.#seen.add(hash);
    if (this.#seen.size > MAX_SEEN) this.#forgetOldest();
    return principal;
  }

  #forgetOldest(): void {
    for (const hash of this.#seen) {
      this.#seen.delete(hash);
      return;
    }
  }

  /** Refuses all calls from now on. */
  close(): void {
    this.#isClosed = true;
  }
}

function tooMany(what: string, wait: number): AppError {
  return new AppError("rate_limited", `Too many ${what}; wait ${wait} s.`, { retryAfter: wait });
}

/** The error that ends calls when this process stops. */
export function stopping(): AppError {
  return new AppError("unavailable", "This process is stopping: reconnect and go on elsewhere.");
}
