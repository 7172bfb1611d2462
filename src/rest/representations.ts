import type { Static, TSchema } from "@sinclair/typebox";
import { AppError } from "../base/errors.ts";
import { isId } from "../base/ids.ts";
import type { Request, Route } from "./route.ts";

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
  /** Paths of collections whose things can be read one by one. */
  readonly #collections = new Set<string>();

  constructor(routes: readonly Route[]) {
    for (const route of routes) if (showsOne(route)) this.#byPath.set(route.path, route);
    for (const route of routes) if (this.#showsTheSame(route)) this.#tagged.add(route);
    for (const { method, path } of routes) {
      const collection = method === "get" ? /^(.+)\/\{\w+\}$/.exec(path)?.[1] : undefined;
      if (collection !== undefined) this.#collections.add(collection);
    }
  }

  /** True when the route makes a thing that can be read below its own path, which `Location` tells. */
  makes(route: Route): boolean {
    const isMaking = route.method === "post" && this.#collections.has(route.path);
    return isMaking && hasId(route.responses[201]?.schema);
  }

  /** The path of the thing that a 201 of the route brings, below /api; undefined when it has none. */
  madeAt(route: Route, { params }: Pick<Request, "params">, body: unknown): string | undefined {
    const { id } = (body ?? {}) as { id?: unknown };
    if (!this.makes(route) || typeof id !== "string" || !isId(id)) return undefined;
    const path = route.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
      encodeURIComponent(params[name] ?? ""),
    );
    return `${path}/${id}`;
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

function hasId(schema: TSchema | undefined): boolean {
  const parts: TSchema[] = schema?.allOf ?? (schema === undefined ? [] : [schema]);
  return parts.some(({ properties }) => properties?.id !== undefined);
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
