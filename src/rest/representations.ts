import type { Static, TSchema } from "@sinclair/typebox";
import { AppError } from "../base/errors.ts";
import type { Route } from "./route.ts";

/** True when this GET returns one resource, which has an ETag. */
function showsOne(route: Route): boolean {
  if (route.method !== "get" || route.responses[200]?.schema === undefined) return false;
  return route.etag ?? route.path.endsWith("}");
}

const EDITING: ReadonlySet<Route["method"]> = new Set(["put", "patch", "delete"]);

/** True when the route honours If-Match. */
export function isEdit(route: Route): boolean {
  return EDITING.has(route.method);
}

/**
 * Finds the GET that returns the resource that a route edits: the one with the same path. If-Match
 * is compared with its answer to the same caller, so every edit with such a GET has ETags without
 * declaring them.
 */
export class Representations {
  readonly #byPath = new Map<string, Route>();
  readonly #tagged = new Set<Route>();

  constructor(routes: readonly Route[]) {
    for (const route of routes) if (showsOne(route)) this.#byPath.set(route.path, route);
    for (const route of routes) if (this.#showsTheSame(route)) this.#tagged.add(route);
  }

  /** The GET of the resource at this route's path. */
  find(route: Route): Route | undefined {
    return this.#byPath.get(route.path);
  }

  /**
   * True when 200 answers of the route have the same body as the resource's GET, and so its ETag.
   */
  isTagged(route: Route): boolean {
    return this.#tagged.has(route);
  }

  #showsTheSame(route: Route): boolean {
    const shown = this.find(route);
    if (shown === undefined || (route.method !== "get" && !isEdit(route))) return false;
    return same(shown.responses[200]?.schema, route.responses[200]?.schema);
  }
}

function same(one: TSchema | undefined, other: TSchema | undefined): boolean {
  return one !== undefined && JSON.stringify(one) === JSON.stringify(other);
}

/** The error for an edit that another edit preceded. */
export function staleEdit(): AppError {
  return new AppError(
    "precondition_failed",
    "This has changed since you read it. Please read it again.",
  );
}

/**
 * The `updated_at` of the version that If-Match named, Unix milliseconds; undefined without one.
 */
export function expectedUpdate({ expected }: { expected?: unknown }): number | undefined {
  const { updated_at: at } = (expected ?? {}) as { updated_at?: unknown };
  return typeof at === "string" ? Date.parse(at) : undefined;
}

/**
 * The representation that If-Match named, as the resource's GET returns it; see `Request.expected`.
 */
export function expectedOf<T extends TSchema>(
  request: { expected?: unknown },
  _schema: T,
): Static<T> | undefined {
  return request.expected;
}
