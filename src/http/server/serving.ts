import { accountOf, type Principal } from "../../access/principal.ts";
import type { Slot } from "../../base/concurrency-limit.ts";
import type { RateVerdict } from "../../base/gcra.ts";
import type { Route } from "../../rest/route.ts";
import type { Exchange } from "./exchange.ts";
import type { Holder } from "./http-limits.ts";
import type { Incoming } from "./request.ts";

/** The state of a request while it is served. */
export interface Serving {
  exchange: Exchange;
  incoming: Incoming;
  /** Monotonic milliseconds. */
  startedAt: number;
  /** Undefined until the route is known. */
  route: Route | undefined;
  params: Readonly<Record<string, string>>;
  principal: Principal | undefined;
  /** The verdict of the latest rate limit that was checked. */
  verdict: RateVerdict | undefined;
  /** Additional headers for the answer. */
  more: Readonly<Record<string, string>> | undefined;
  /** True when the connection ends with the answer. */
  close: boolean;
}

/** Counts a place for the address that a request comes from. Throws `rate_limited`. */
export function claimAddress(place: Slot<Holder>, { network, site }: Incoming): void {
  place.claim("network", network);
  place.claim("site", site);
}

/** Counts a place for the caller. Throws `rate_limited`. */
export function claimCaller(place: Slot<Holder>, principal: Principal | undefined): void {
  if (principal === undefined) return place.claim("nobody", "");
  place.claim("caller", principal.id);
  if ("workspaceId" in principal) place.claim("workspace", principal.workspaceId);
  place.claim("account", accountOf(principal));
}
