import type { Principal } from "../../access/principal.ts";
import { AppError } from "../../base/errors.ts";
import type { CallInput, Credential, Request, Route, RouteCall } from "../../rest/route.ts";
import { checkRole } from "./caller.ts";
import { enforce, type RateLimits } from "./limits.ts";
import type { PreparedRoute } from "./routing.ts";
import type { Serving } from "./serving.ts";

/** Lets a route carry out others in its own request, each under the limits and checks of that other. */
export class RouteCalls {
  readonly #prepared: ReadonlyMap<string, PreparedRoute>;
  readonly #rates: RateLimits;

  constructor(prepared: Iterable<PreparedRoute>, rates: RateLimits) {
    this.#prepared = new Map([...prepared].map((each) => [each.route.id, each]));
    this.#rates = rates;
  }

  /** Calls for the caller of this request, whose headers they do not get. */
  of(serving: Serving, request: Request): RouteCall {
    return async <T>(id: string, given: CallInput) => {
      const prepared = this.#prepared.get(id);
      if (prepared === undefined) throw new Error(`There is no route ${id}.`);
      this.#admit(prepared.route, serving);
      return (await carryOut(prepared, request, given)) as T;
    };
  }

  #admit(route: Route, serving: Serving): void {
    const { principal, incoming } = serving;
    if (principal === undefined || !takes(route, principal)) {
      throw new AppError("forbidden", "This kind of caller cannot do this.");
    }
    serving.verdict = this.#rates.caller(route, principal, incoming);
    enforce(serving.verdict);
    checkRole(route, principal);
  }
}

const CREDENTIALS: Readonly<Record<Principal["kind"], Credential>> = {
  user: "bearer",
  guest: "bearer",
  device: "device_key",
  service: "service_key",
};

function takes(route: Route, { kind }: Principal): boolean {
  return route.auth.includes(CREDENTIALS[kind]);
}

/** The checks and their order are those of a request of its own. */
async function carryOut(
  prepared: PreparedRoute,
  { id, principal, address, network, signal }: Request,
  { params = {}, query = {}, body }: CallInput,
): Promise<unknown> {
  const { route } = prepared;
  const caller = { id, principal, address, network, signal, headers: {} };
  const own = {
    ...caller,
    method: route.method.toUpperCase(),
    params: prepared.params({ ...params }),
  };
  const asked = { ...own, query: withoutUndefined(query), body: undefined };
  const resource = await route.resolve?.(asked);
  const request: Request = {
    ...asked,
    query: prepared.query(asked.query),
    body: route.body?.kind === "json" ? prepared.value(body) : undefined,
  };
  const reply = await route.handle(request, resource);
  if (reply.stream !== undefined || reply.events !== undefined) {
    throw new Error(`The route ${route.id} cannot be called by another.`);
  }
  return reply.body;
}

function withoutUndefined(query: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
}
