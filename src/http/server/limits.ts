import type { Principal } from "../../access/principal.ts";
import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { Gcra, type RateLimit, type RateVerdict } from "../../base/gcra.ts";
import type { Route } from "../../rest/route.ts";
import { type Network, SITE_FACTOR } from "../../wire/network.ts";

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
  if (route.body?.kind === "upload" || route.body?.kind === "bytes") return "upload";
  if (QUERIES.test(route.path) || route.tag === "Graph") return "query";
  // What it calls is limited by itself.
  if (route.calls === true) return "read";
  return route.method === "get" ? "read" : "write";
}

/** The budget of each address, and a looser one of each site of IPv6 addresses. */
class AddressLimits {
  readonly #networks: Gcra;
  readonly #sites: Gcra;

  constructor(limit: RateLimit, clock: Clock) {
    this.#networks = new Gcra(limit, clock);
    this.#sites = new Gcra(times(limit, SITE_FACTOR), clock);
  }

  take({ network, site }: Network): RateVerdict {
    const own = this.#networks.take(network);
    if (!own.allowed || site === undefined) return own;
    const ofSite = this.#sites.take(site);
    return ofSite.allowed ? own : ofSite;
  }
}

/** The budgets of one route class. */
class ClassLimits {
  readonly #caller: Gcra;
  readonly #strangers: AddressLimits;
  readonly #guestsOfAddress: AddressLimits;
  readonly #guestsOfSession: Gcra;

  constructor(limit: RateLimit, clock: Clock) {
    this.#caller = new Gcra(limit, clock);
    this.#strangers = new AddressLimits(limit, clock);
    this.#guestsOfAddress = new AddressLimits(times(limit, GUEST_SHARES.address), clock);
    this.#guestsOfSession = new Gcra(times(limit, GUEST_SHARES.session), clock);
  }

  take(principal: Principal | undefined, from: Network): RateVerdict {
    if (principal === undefined) return this.#strangers.take(from);
    // Ids are unique across kinds of callers.
    const own = this.#caller.take(principal.id);
    if (!own.allowed || principal.kind !== "guest") return own;
    const ofAddress = this.#guestsOfAddress.take(from);
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
  readonly #addresses: AddressLimits;
  readonly #classes: Readonly<Record<Exclude<RateClass, "address">, ClassLimits>>;
  readonly #byRoute = new Map<Route, ClassLimits>();

  constructor(settings: RateLimitSettings, clock: Clock) {
    this.#addresses = new AddressLimits(settings.address, clock);
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

  address(from: Network): RateVerdict {
    return this.#addresses.take(from);
  }

  caller(route: Route, principal: Principal | undefined, from: Network): RateVerdict {
    return this.#limitsOf(route).take(principal, from);
  }

  #limitsOf(route: Route): ClassLimits {
    const known = this.#byRoute.get(route);
    if (known !== undefined) return known;
    const limits = this.#classes[rateClassOf(route)];
    this.#byRoute.set(route, limits);
    return limits;
  }
}

/** Tells a caller where it stands. */
export function rateHeaders({ limit, remaining, resetSeconds }: RateVerdict) {
  return {
    "RateLimit-Limit": String(limit),
    "RateLimit-Remaining": String(remaining),
    "RateLimit-Reset": String(resetSeconds),
  };
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
