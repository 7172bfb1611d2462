import type { TSchema } from "@sinclair/typebox";
import { AppError, shown, unknownThing } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import { effectless } from "../../rest/effectless.ts";
import type { Request, Route } from "../../rest/route.ts";
import { type SchemaCheck, SchemaChecks } from "../../rest/schema-check.ts";
import { kindOfListing, onlyParameters } from "../../rest/schemas.ts";
import { isStorable } from "../../rest/storable-text.ts";
import type { Exchange } from "./exchange.ts";
import { parseJson } from "./request-body.ts";

/** A route with its schemas compiled. */
export class PreparedRoute {
  readonly route: Route;
  readonly #params: SchemaCheck | undefined;
  readonly #query: SchemaCheck | undefined;
  readonly #only: readonly string[] | undefined;
  readonly #body: SchemaCheck | undefined;
  readonly #plainIds: readonly string[];
  readonly #onlyPlainIds: boolean;

  private constructor(route: Route, checks: SchemaChecks) {
    this.route = route;
    this.#params = route.params && checks.parameters(route.params, "The path");
    this.#query = route.query && checks.parameters(route.query, "The query");
    this.#only = onlyParameters(route);
    this.#body = route.body?.kind === "json" ? checks.body(route.body.schema) : undefined;
    const names = [...route.path.matchAll(/\{([^}]*)\}/g)].map(([, name = ""]) => name);
    this.#plainIds = names.filter((name) => this.#isPlainId(name));
    this.#onlyPlainIds = this.#plainIds.length === names.length;
  }

  static all(routes: readonly Route[]): ReadonlyMap<Route, PreparedRoute> {
    const checks = new SchemaChecks();
    return new Map(routes.map((route) => [route, new PreparedRoute(route, checks)]));
  }

  /** True when the route takes a JSON body and the request has one. */
  takesJson(exchange: Exchange): boolean {
    return exchange.hasBody && this.route.body?.kind === "json";
  }

  /** Checks path parameters. Throws `not_found` for a text that cannot be an id. */
  params(params: Record<string, string>): Record<string, string> {
    for (const name of this.#plainIds) {
      const id = params[name] ?? "";
      if (!isId(id)) throw unknownThing(this.#thingOf(name), id);
    }
    const odd = !this.#onlyPlainIds && !isStorable(params);
    if (odd || this.#params?.(params) !== undefined) throw this.#notFound(params);
    return params;
  }

  #notFound(params: Record<string, string>): AppError {
    for (const [name, text] of Object.entries(params)) {
      if (/(^|_)id$/.test(name) && !isId(text)) return unknownThing(this.#thingOf(name), text);
    }
    const wanted = Object.values(params).map(shown).join(", ");
    return new AppError("not_found", `There is nothing called ${wanted} here.`);
  }

  /**
   * A parameter with an id's name is an id of this service, unless its schema defines another form.
   */
  #isPlainId(name: string): boolean {
    if (name !== "id" && !name.endsWith("_id")) return false;
    const schema: TSchema | undefined = this.route.params?.properties?.[name];
    return schema?.pattern === undefined && schema?.format === undefined;
  }

  /**
   * The kind of resource that an id names: from `{session_id}`, or from the group before `{id}`.
   */
  #thingOf(name: string): string {
    if (name !== "id") return name.replace(/_id$/, "").replaceAll("_", " ");
    const [, group = "thing"] = /([a-z-]+)\/\{id\}/.exec(this.route.path) ?? [];
    return THINGS[group] ?? group.replaceAll("-", " ").replace(/s$/, "");
  }

  query(query: Request["query"]): Request["query"] {
    if (this.#query === undefined) return {};
    this.#refuseUnknown(query);
    const problem = this.#query(query);
    if (problem !== undefined) throw new AppError("invalid_parameter", problem);
    // "1e400" becomes infinite, which the schema's bounds do not catch.
    for (const [name, value] of Object.entries(query)) {
      if (typeof value !== "number" || Number.isFinite(value)) continue;
      throw new AppError("invalid_parameter", `"${name}" is too large a number.`);
    }
    if (!isStorable(query)) {
      throw new AppError("invalid_parameter", "The query holds the character U+0000.");
    }
    return query;
  }

  #refuseUnknown(query: Request["query"]): void {
    if (this.#only === undefined) return;
    for (const name in query) {
      if (this.#only.includes(name)) continue;
      const kind = kindOfListing(this.#only);
      const known = this.#only.join(", ");
      throw new AppError(
        "invalid_parameter",
        `"${shown(name)}" is not known here; this ${kind} takes ${known}.`,
      );
    }
  }

  body(bytes: Buffer | undefined): unknown {
    if (this.route.body?.kind !== "json") return undefined;
    if (bytes === undefined || bytes.byteLength === 0) {
      if (this.route.body.optional === true) return undefined;
      throw new AppError("invalid_body", "This needs a JSON body.");
    }
    return this.value(parseJson(bytes, this.route.body.anyText));
  }

  /** Checks a JSON body that was parsed. */
  value(value: unknown): unknown {
    const problem = this.#body?.(value) ?? this.#unknownMember(value);
    if (problem !== undefined) throw new AppError("invalid_body", problem);
    return value;
  }

  #unknownMember(value: unknown): string | undefined {
    const { body } = this.route;
    if (body?.kind !== "json" || body.closed !== true) return undefined;
    const [odd] = this.#strays(value);
    if (odd === undefined) return undefined;
    const known = Object.keys(body.schema.properties ?? {}).join(", ");
    return `"${shown(odd)}" is not known here; the request body takes ${known}.`;
  }

  /** The `Warning` header that names members of a body that are ignored, if there are any. */
  warning(value: unknown): string | undefined {
    return effectless(this.#strays(value));
  }

  /** Members of a JSON body that its schema does not know. */
  #strays(value: unknown): string[] {
    if (this.route.body?.kind !== "json" || value === undefined) return [];
    const { properties, additionalProperties } = this.route.body.schema;
    if (properties === undefined || additionalProperties !== undefined) return [];
    return Object.keys(value ?? {}).filter((name) => !Object.hasOwn(properties, name));
  }
}

/** Path groups that are not named after their resources. */
const THINGS: Readonly<Record<string, string>> = {
  summarisations: "summarisation job",
  "api-keys": "key",
};

interface RouteMatch {
  kind: "route";
  route: Route;
  params: Record<string, string>;
}

/** The result of matching a method and a path. */
export type Match = RouteMatch | WrongMethod | { kind: "unknown" };

/** There is something at the path, for other methods; OPTIONS is answered from this. */
interface WrongMethod {
  kind: "wrong_method";
  allow: string[];
  /** Further headers of the answer to OPTIONS. */
  options: Readonly<Record<string, string>>;
}

interface Node {
  literals: Map<string, Node>;
  parameter: Node | undefined;
  /** Routes by upper-case method, with the names of their parameters in order. */
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

  /**
   * `path` is below /api, undecoded, without the query; one slash at its end changes nothing. HEAD is
   * answered by the GET route.
   */
  match(method: string, path: string): Match {
    const segments = path
      .replace(/(.)\/$/, "$1")
      .split("/")
      .slice(1);
    if (!path.startsWith("/") || segments.length > MAX_SEGMENTS) return { kind: "unknown" };
    const values: string[] = [];
    const node = find(this.#root, segments, 0, values);
    if (node === undefined) return { kind: "unknown" };
    const entry = node.routes.get(method === "HEAD" ? "GET" : method);
    if (entry === undefined) {
      return { kind: "wrong_method", allow: allowed(node), options: optionsOf(node) };
    }
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

function optionsOf({ routes }: Node): Record<string, string> {
  return Object.assign({}, ...[...routes.values()].map(({ route }) => route.optionsHeaders ?? {}));
}

function allowed(node: Node): string[] {
  const methods = [...node.routes.keys()];
  if (methods.includes("GET")) methods.push("HEAD");
  return [...methods, "OPTIONS"].sort();
}
