import type { Principal } from "../../access/principal.ts";
import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { Gcra, type RateLimit, type RateVerdict } from "../../base/gcra.ts";
import type { QueueFigures, QueueOwner } from "../../base/queue-metrics.ts";
import type { Route } from "../../rest/route.ts";

/** Lets at most `capacity` tasks run at once and refuses more; nothing is queued. */
export class ConcurrencyLimit implements QueueOwner {
  readonly #capacity: number;
  readonly #what: string;
  #running = 0;
  #refused = 0;

  constructor(capacity: number, what: string) {
    this.#capacity = capacity;
    this.#what = what;
  }

  get queues(): readonly QueueFigures[] {
    const queue = this.#what.replaceAll(" ", "_");
    return [{ queue, length: this.#running, limit: this.#capacity, refused: this.#refused }];
  }

  /** Takes a slot until `leave`. Throws `overloaded` when all are taken. */
  enter(): void {
    if (this.#running >= this.#capacity) {
      this.#refused += 1;
      throw new AppError("overloaded", `Too many ${this.#what} at once. Please try again.`, {
        retryAfter: 2,
      });
    }
    this.#running += 1;
  }

  leave(): void {
    this.#running -= 1;
  }

  /** Throws `overloaded` when full. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    this.enter();
    try {
      return await work();
    } finally {
      this.leave();
    }
  }
}

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

function rateClassOf(route: Route): RateClass {
  if (route.path.startsWith("/devices/pair")) return "pairing";
  if (route.path.startsWith("/auth/") && route.method === "post") return "auth";
  if (route.body?.kind === "upload") return "upload";
  if (route.path.endsWith("-query") || route.tag === "Graph") return "query";
  return route.method === "get" ? "read" : "write";
}

/** Rate limits per address before authentication, and per caller and route class after it. */
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
    // Ids are unique across kinds of callers, and no address looks like one.
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

/** Throws `rate_limited` when the verdict does not allow the request. */
export function enforce(verdict: RateVerdict): void {
  if (verdict.allowed) return;
  throw new AppError(
    "rate_limited",
    `Too many requests. Please try again in ${verdict.retryAfterSeconds} s.`,
    { retryAfter: verdict.retryAfterSeconds },
  );
}
