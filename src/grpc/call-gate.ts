import type { Metadata } from "@grpc/grpc-js";
import type { Authenticator } from "../access/authenticator.ts";
import type { Principal } from "../access/principal.ts";
import type { Clock } from "../base/clock.ts";
import { withTimeout } from "../base/deferred.ts";
import { AppError } from "../base/errors.ts";
import { Gcra } from "../base/gcra.ts";
import type { RpcLimits } from "./rpc-limits.ts";

export type Budget = "read" | "query";

const KEY = "x-api-key";
const AUTHENTICATE_MS = 10_000;

interface CallGateOptions {
  authenticator: Pick<Authenticator, "authenticate">;
  limits: RpcLimits;
  clock: Clock;
}

/** Where every call comes in: its service key, its budget, and whether calls are taken at all. */
export class CallGate {
  readonly #authenticator: Pick<Authenticator, "authenticate">;
  readonly #budgets: Readonly<Record<Budget, Gcra>>;
  #isClosed = false;
  #admitted = 0;

  constructor({ authenticator, limits, clock }: CallGateOptions) {
    this.#authenticator = authenticator;
    this.#budgets = { read: new Gcra(limits.read, clock), query: new Gcra(limits.query, clock) };
  }

  /** Calls let in since the start. */
  get admitted(): number {
    return this.#admitted;
  }

  /** Rejects with the AppError that the call ends with. */
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

  /** Takes no calls from now on. */
  close(): void {
    this.#isClosed = true;
  }
}

/** What calls end with when this process stops. */
export function stopping(): AppError {
  return new AppError("unavailable", "This process is stopping: reconnect and go on elsewhere.");
}
