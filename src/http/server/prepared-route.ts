import type { TSchema } from "@sinclair/typebox";
import { AppError, unknownThing } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import { shown } from "../../base/shown.ts";
import { kindOfListing, onlyParameters } from "../../rest/known-parameters.ts";
import type { Request, Route } from "../../rest/route.ts";
import type { Exchange } from "./exchange.ts";
import { isStorable, parseJson } from "./json-body.ts";
import { type SchemaCheck, SchemaChecks } from "./schema-check.ts";

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

  /** Compiles all; throws, naming the route, when a schema is none. */
  static all(routes: readonly Route[]): ReadonlyMap<Route, PreparedRoute> {
    const checks = new SchemaChecks();
    const prepared = new Map<Route, PreparedRoute>();
    for (const route of routes) {
      try {
        prepared.set(route, new PreparedRoute(route, checks));
      } catch (cause) {
        throw new Error(`The schemas of the route ${route.id} do not compile.`, { cause });
      }
    }
    return prepared;
  }

  /** True when a JSON body is to be read. */
  takesJson(exchange: Exchange): boolean {
    return exchange.hasBody && this.route.body?.kind === "json";
  }

  /** Path parameters; one that cannot be the id of anything is answered like an unknown one. */
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

  /** A parameter named as an id is one of ours, unless its schema gives it a form of its own. */
  #isPlainId(name: string): boolean {
    if (name !== "id" && !name.endsWith("_id")) return false;
    const schema: TSchema | undefined = this.route.params?.properties?.[name];
    return schema?.pattern === undefined && schema?.format === undefined;
  }

  /** What an id in the path is of: `{session_id}`, or the `{id}` after `workspaces`. */
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
    // "1e400" becomes one, and the schema's bounds let it pass.
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
    const value = parseJson(bytes);
    const problem = this.#body?.(value);
    if (problem !== undefined) throw new AppError("invalid_body", problem);
    return value;
  }
}

/** Groups of paths that are not named after what is in them. */
const THINGS: Readonly<Record<string, string>> = {
  summarisations: "summarisation job",
  "api-keys": "key",
};
