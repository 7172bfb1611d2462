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

type RateClass =
  | "address"
  | "auth"
  | "guest_entry"
  | "pairing"
  | "upload"
  | "query"
  | "write"
  | "read";

export type RateLimitSettings = Readonly<Record<RateClass, RateLimit>>;

export const DEFAULT_RATE_LIMITS: RateLimitSettings = {
  address: { perMinute: 12_000, burst: 2_000 },
  auth: { perMinute: 60, burst: 40 },
  guest_entry: { perMinute: 60, burst: 40 },
  pairing: { perMinute: 60, burst: 30 },
  upload: { perMinute: 1_200, burst: 300 },
  query: { perMinute: 60, burst: 20 },
  write: { perMinute: 600, burst: 200 },
  read: { perMinute: 1_200, burst: 300 },
};

/** Paths of routes that search through all words of a session or a workspace. */
const QUERIES = /(-query|\/search)$/;

/**
 * How many callers' budgets the guests of one address, and those of one session, have together:
 * guests cost nothing to make, so that budgets of their own alone would limit nobody.
 */
const GUEST_SHARES = { address: 2, session: 5 };

function rateClassOf(route: Route): Exclude<RateClass, "address"> {
  if (route.path === "/auth/guest") return "guest_entry";
  if (route.path.startsWith("/devices/pair")) return "pairing";
  if (route.path.startsWith("/auth/") && route.method === "post") return "auth";
  if (route.body?.kind === "upload") return "upload";
  if (QUERIES.test(route.path) || route.tag === "Graph") return "query";
  return route.method === "get" ? "read" : "write";
}

/** The budgets of one route class. */
class ClassLimits {
  readonly #caller: Gcra;
  readonly #guestsOfAddress: Gcra;
  readonly #guestsOfSession: Gcra;

  constructor(limit: RateLimit, clock: Clock) {
    this.#caller = new Gcra(limit, clock);
    this.#guestsOfAddress = new Gcra(times(limit, GUEST_SHARES.address), clock);
    this.#guestsOfSession = new Gcra(times(limit, GUEST_SHARES.session), clock);
  }

  take(principal: Principal | undefined, address: string): RateVerdict {
    // Ids are unique across kinds of callers, and no address looks like one.
    const own = this.#caller.take(principal?.id ?? address);
    if (!own.allowed || principal?.kind !== "guest") return own;
    const ofAddress = this.#guestsOfAddress.take(address);
    if (!ofAddress.allowed) return ofAddress;
    const ofSession = this.#guestsOfSession.take(principal.sessionId);
    return ofSession.allowed ? own : ofSession;
  }
}

function times({ perMinute, burst }: RateLimit, factor: number): RateLimit {
  return { perMinute: perMinute * factor, burst: burst * factor };
}

/** Rate limits per address before authentication, and per caller and route class after it. */
export class RateLimits {
  readonly #address: Gcra;
  readonly #classes: Readonly<Record<Exclude<RateClass, "address">, ClassLimits>>;
  readonly #byRoute = new Map<Route, ClassLimits>();

  constructor(settings: RateLimitSettings, clock: Clock) {
    this.#address = new Gcra(settings.address, clock);
    this.#classes = {
      auth: new ClassLimits(settings.auth, clock),
      guest_entry: new ClassLimits(settings.guest_entry, clock),
      pairing: new ClassLimits(settings.pairing, clock),
      upload: new ClassLimits(settings.upload, clock),
      query: new ClassLimits(settings.query, clock),
      write: new ClassLimits(settings.write, clock),
      read: new ClassLimits(settings.read, clock),
    };
  }

  address(address: string): RateVerdict {
    return this.#address.take(address);
  }

  caller(route: Route, principal: Principal | undefined, address: string): RateVerdict {
    return this.#limitsOf(route).take(principal, address);
  }

  #limitsOf(route: Route): ClassLimits {
    const known = this.#byRoute.get(route);
    if (known !== undefined) return known;
    const limits = this.#classes[rateClassOf(route)];
    this.#byRoute.set(route, limits);
    return limits;
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
