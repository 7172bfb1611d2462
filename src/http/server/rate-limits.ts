import type { Principal } from "../../access/principal.ts";
import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { Gcra, type RateLimit, type RateVerdict } from "../../base/gcra.ts";
import type { Route } from "../../rest/route.ts";

type RateClass = "address" | "auth" | "pairing" | "upload" | "query" | "write" | "read";

export type RateLimitSettings = Readonly<Record<RateClass, RateLimit>>;

export const DEFAULT_RATE_LIMITS: RateLimitSettings = {
  address: { perMinute: 12_000, burst: 2_000 },
  auth: { perMinute: 60, burst: 40 },
  pairing: { perMinute: 60, burst: 30 },
  upload: { perMinute: 1_200, burst: 300 },
  query: { perMinute: 60, burst: 20 },
  write: { perMinute: 600, burst: 200 },
  read: { perMinute: 1_200, burst: 300 },
};

/** The budget that a route draws on. */
function rateClassOf(route: Route): RateClass {
  if (route.path.startsWith("/devices/pair")) return "pairing";
  if (route.path.startsWith("/auth/") && route.method === "post") return "auth";
  if (route.body?.kind === "upload") return "upload";
  if (route.path.endsWith("-query") || route.tag === "Graph") return "query";
  return route.method === "get" ? "read" : "write";
}

/** Budgets per address before authentication, and per caller and route class after it. */
export class RateLimits {
  readonly #limiters: Readonly<Record<RateClass, Gcra>>;
  readonly #byRoute = new Map<Route, Gcra>();

  constructor(settings: RateLimitSettings, clock: Clock) {
    this.#limiters = {
      address: new Gcra(settings.address, clock),
      auth: new Gcra(settings.auth, clock),
      pairing: new Gcra(settings.pairing, clock),
      upload: new Gcra(settings.upload, clock),
      query: new Gcra(settings.query, clock),
      write: new Gcra(settings.write, clock),
      read: new Gcra(settings.read, clock),
    };
  }

  address(address: string): RateVerdict {
    return this.#limiters.address.take(address);
  }

  caller(route: Route, principal: Principal | undefined, address: string): RateVerdict {
    // Ids are unique whatever they are of, and no address looks like one.
    return this.#limiterOf(route).take(principal?.id ?? address);
  }

  #limiterOf(route: Route): Gcra {
    const known = this.#byRoute.get(route);
    if (known !== undefined) return known;
    const limiter = this.#limiters[rateClassOf(route)];
    this.#byRoute.set(route, limiter);
    return limiter;
  }
}

/** Throws `rate_limited` when the verdict is no. */
export function enforce(verdict: RateVerdict): void {
  if (verdict.allowed) return;
  throw new AppError(
    "rate_limited",
    `Too many requests. Please try again in ${verdict.retryAfterSeconds} s.`,
    { retryAfter: verdict.retryAfterSeconds },
  );
}
