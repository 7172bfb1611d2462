import { idName } from "./seeded-world.ts";
import type { Tenant } from "./tenant.ts";

interface Parameter {
  name: string;
  in: string;
  schema?: { enum?: string[]; anyOf?: { const?: string }[] };
}

interface Operation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema?: { properties?: object } }> };
}

export interface ForeignRequest {
  operationId: string;
  method: string;
  path: string;
  body?: object;
  /** The path names something of the other tenant's: then nothing at all may come back. */
  isForeign: boolean;
}

/** Cursors that the other tenant was given, by the template of the list. */
export type Cursors = ReadonlyMap<string, string>;

interface Reading {
  template: string;
  method: string;
  operation: Operation;
}

/** Every operation that only reads, and those that answer a question, of an OpenAPI document. */
export function readings(document: object): Reading[] {
  const { paths } = document as { paths: Record<string, Record<string, Operation>> };
  return Object.entries(paths).flatMap(([template, item]) =>
    Object.entries(item)
      .filter(([method, operation]) => method === "get" || asks(operation))
      .map(([method, operation]) => ({ template, method, operation })),
  );
}

function asks({ requestBody }: Operation): boolean {
  const schema = requestBody?.content["application/json"]?.schema;
  return Object.hasOwn(schema?.properties ?? {}, "query");
}

/** A reading with ids of one's own only. */
export function ownRequests(reading: Reading, own: Tenant): ForeignRequest[] {
  const [path] = pathsOf(reading.template, own, own);
  const queries = queriesOf(reading, own, own, new Map());
  return queries.map((query) => toRequest(reading, { path: path?.path ?? "", query }, own, false));
}

/**
 * A reading as someone else asks it: each mixture of the other's ids and one's
 * own in the path, each filter set to the other's ids and words, and the other's
 * cursors.
 */
export function foreignRequests(
  reading: Reading,
  own: Tenant,
  other: Tenant,
  cursors: Cursors,
): ForeignRequest[] {
  return pathsOf(reading.template, own, other).flatMap(({ path, isForeign }) =>
    queriesOf(reading, own, other, cursors).map((query) =>
      toRequest(reading, { path, query }, other, isForeign),
    ),
  );
}

function toRequest(
  { method, operation }: Reading,
  { path, query }: { path: string; query: string },
  about: Tenant,
  isForeign: boolean,
): ForeignRequest {
  const request = { operationId: operation.operationId, method: method.toUpperCase(), isForeign };
  const whole = query === "" ? path : `${path}?${query}`;
  if (method === "get") return { ...request, path: whole };
  return { ...request, path: whole, body: { query: `Who said ${about.spokenWord}?` } };
}

/** 2^n ways to fill n ids. */
function pathsOf(
  template: string,
  own: Tenant,
  other: Tenant,
): { path: string; isForeign: boolean }[] {
  let filled = [{ path: template, isForeign: false }];
  for (const [all, name = ""] of template.matchAll(/\{(\w+)\}/g)) {
    const id = idName(template, name);
    const choices = [
      { id: own.ids[id], isForeign: false },
      // A chunk's number is the same everywhere: it is foreign by its session only.
      { id: other.ids[id] === own.ids[id] ? undefined : other.ids[id], isForeign: true },
    ].filter((choice) => choice.id !== undefined);
    filled = filled.flatMap((each) =>
      (choices.length === 0 ? [{ id: "none", isForeign: false }] : choices).map((choice) => ({
        path: each.path.replace(all, choice.id ?? ""),
        isForeign: each.isForeign || choice.isForeign,
      })),
    );
  }
  return filled;
}

/** No query, each parameter alone, and all filters at once. */
function queriesOf(
  { template, operation }: Reading,
  own: Tenant,
  other: Tenant,
  cursors: Cursors,
): string[] {
  const named = (operation.parameters ?? []).filter((each) => each.in === "query");
  const settings = named.flatMap((each) =>
    valuesOf(template, each, other).map((value): [string, string] => [each.name, value]),
  );
  // A search without words is refused before anything else is looked at.
  const isSearch = named.some(({ name }) => name === "q");
  const words: Record<string, string> = isSearch ? { q: other.spokenWord } : {};
  const single = settings.map(([name, value]) => ({ ...words, [name]: value }));
  const cursor = cursors.get(template);
  const paged = cursor === undefined ? [] : [{ ...words, limit: "100", cursor }];
  const all = [{}, { q: own.spokenWord }, ...single, Object.fromEntries(settings), ...paged];
  return [...new Set(all.map((query) => String(new URLSearchParams(query))))];
}

/** What the other tenant would ask for. */
function valuesOf(template: string, { name, schema }: Parameter, other: Tenant): string[] {
  if (template.endsWith("/path")) {
    if (name === "from") return [other.ids.entity_id ?? ""];
    if (name === "to") return [other.ids.other_entity_id ?? ""];
  }
  if (name === "q") return [other.spokenWord];
  if (name.endsWith("_id")) return other.ids[name] === undefined ? [] : [other.ids[name]];
  const choices = (schema?.anyOf ?? []).flatMap((each) => each.const ?? []);
  return name === "format" ? [...(schema?.enum ?? []), ...choices] : [];
}
