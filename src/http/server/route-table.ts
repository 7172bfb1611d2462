import type { Route } from "../../rest/route.ts";

interface RouteMatch {
  kind: "route";
  route: Route;
  params: Record<string, string>;
}

/** What a method and a path lead to. */
export type Match = RouteMatch | { kind: "wrong_method"; allow: string[] } | { kind: "unknown" };

interface Node {
  literals: Map<string, Node>;
  parameter: Node | undefined;
  /** By upper-case method: the route and the names of its parameters in order. */
  routes: Map<string, { route: Route; names: string[] }>;
}

const PARAMETER = /^\{([A-Za-z_][A-Za-z0-9_]*)\}$/;
const MAX_SEGMENTS = 16;

function createNode(): Node {
  return { literals: new Map(), parameter: undefined, routes: new Map() };
}

/** Routes by path; a literal segment wins over a parameter. */
export class RouteTable {
  readonly #root = createNode();

  /** Throws when two routes share a method and a path. */
  constructor(routes: readonly Route[]) {
    for (const route of routes) this.#add(route);
  }

  /** `path` is below /api, undecoded, without the query. HEAD is answered by the GET route. */
  match(method: string, path: string): Match {
    const segments = path.split("/").slice(1);
    if (!path.startsWith("/") || segments.length > MAX_SEGMENTS) return { kind: "unknown" };
    const values: string[] = [];
    const node = find(this.#root, segments, 0, values);
    if (node === undefined) return { kind: "unknown" };
    const entry = node.routes.get(method === "HEAD" ? "GET" : method);
    if (entry === undefined) return { kind: "wrong_method", allow: allowed(node) };
    const params: Record<string, string> = Object.create(null);
    for (let at = 0; at < entry.names.length; at += 1) {
      params[entry.names[at] ?? ""] = values[at] ?? "";
    }
    return { kind: "route", route: entry.route, params };
  }

  #add(route: Route): void {
    let node = this.#root;
    const names: string[] = [];
    for (const segment of route.path.split("/").slice(1)) {
      const name = PARAMETER.exec(segment)?.[1];
      if (name !== undefined) names.push(name);
      node = name === undefined ? literalChild(node, segment) : parameterChild(node);
    }
    const method = route.method.toUpperCase();
    if (node.routes.has(method)) throw new Error(`Two routes for ${method} ${route.path}.`);
    node.routes.set(method, { route, names });
  }
}

function literalChild(node: Node, segment: string): Node {
  const child = node.literals.get(segment) ?? createNode();
  node.literals.set(segment, child);
  return child;
}

function parameterChild(node: Node): Node {
  node.parameter ??= createNode();
  return node.parameter;
}

function find(node: Node, segments: string[], at: number, values: string[]): Node | undefined {
  const segment = segments[at];
  if (segment === undefined) return node.routes.size > 0 ? node : undefined;
  const literal = node.literals.get(segment);
  const found = literal === undefined ? undefined : find(literal, segments, at + 1, values);
  if (found !== undefined) return found;
  const value = tryDecode(segment);
  if (node.parameter === undefined || value === undefined || value === "") return undefined;
  const depth = values.length;
  values.push(value);
  const below = find(node.parameter, segments, at + 1, values);
  if (below === undefined) values.length = depth;
  return below;
}

function tryDecode(segment: string): string | undefined {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

function allowed(node: Node): string[] {
  const methods = [...node.routes.keys()];
  if (methods.includes("GET")) methods.push("HEAD");
  return [...methods, "OPTIONS"].sort();
}
