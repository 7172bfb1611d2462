import { exampleId } from "../../src/rest/example-values.ts";
import { type CallerName, idName, type SeededWorld } from "./seeded-world.ts";

interface Parameter {
  name: string;
  in: string;
  example?: unknown;
}

interface Content {
  examples?: { example?: { value: unknown } };
}

interface Operation {
  operationId: string;
  security?: Record<string, unknown>[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, Content> };
}

export interface ExampleRequest {
  operationId: string;
  method: string;
  path: string;
  callers: readonly CallerName[];
  body: unknown;
}

/** Reads come first and what ends things last. */
const ORDER = ["get", "post", "put", "patch", "delete"];
const LAST: ReadonlySet<string> = new Set(["logout", "eraseAccount"]);

/** The example of every operation that takes JSON or nothing, with its ids those of things that exist. */
export function exampleRequests(document: object, { ids }: SeededWorld): ExampleRequest[] {
  const { paths } = document as { paths: Record<string, Record<string, Operation>> };
  const operations = Object.entries(paths).flatMap(([template, item]) =>
    Object.entries(item).map(([method, operation]) => ({ template, method, operation })),
  );
  return operations
    .filter(({ operation: { requestBody } }) => {
      return requestBody === undefined || "application/json" in requestBody.content;
    })
    .toSorted((one, other) => rank(one) - rank(other))
    .map(({ template, method, operation }) => ({
      operationId: operation.operationId,
      method: method.toUpperCase(),
      path: pathOf(template, operation.parameters ?? [], ids),
      callers: callersOf(operation),
      body: withIds(
        operation.requestBody?.content["application/json"]?.examples?.example?.value,
        ids,
      ),
    }));
}

function rank({ method, operation }: { method: string; operation: Operation }): number {
  return LAST.has(operation.operationId) ? ORDER.length : ORDER.indexOf(method);
}

/** Who may call, most ordinary first. */
function callersOf({ security = [] }: Operation): CallerName[] {
  if (security.some((scheme) => "bearer" in scheme)) return ["user", "admin"];
  return security.some((scheme) => "device_key" in scheme) ? ["device"] : ["none"];
}

function pathOf(
  template: string,
  parameters: readonly Parameter[],
  ids: SeededWorld["ids"],
): string {
  const exampleFor = (name: string): string =>
    String(parameters.find((each) => each.name === name)?.example ?? "");
  const path = template.replaceAll(
    /\{(\w+)\}/g,
    (_all, name: string) => ids[idName(template, name)] ?? encodeURIComponent(exampleFor(name)),
  );
  const query = parameters
    .filter((each) => each.in === "query" && each.example !== undefined)
    .map(({ name, example }): [string, string] => [name, String(withIds(example, ids))]);
  return query.length === 0 ? path : `${path}?${new URLSearchParams(query)}`;
}

/** The example with the ids of the world in the places of its own. */
function withIds(example: unknown, ids: SeededWorld["ids"]): unknown {
  let text = JSON.stringify(example);
  if (text === undefined) return undefined;
  for (const [name, id] of Object.entries(ids)) text = text.replaceAll(exampleId(name), id);
  return JSON.parse(text);
}
