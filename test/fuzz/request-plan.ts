import fc, { type Arbitrary } from "fast-check";
import { CALLERS, type CallerName, idName } from "../support/seeded-world.ts";
import {
  anything,
  known,
  nearlyValid,
  type Resolve,
  type Schema,
  valid,
} from "./schema-arbitrary.ts";

export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema: Schema;
}

export interface Operation {
  operationId: string;
  parameters?: (Parameter | { $ref: string })[];
  security?: Record<string, unknown>[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

export interface OpenApiDocument {
  paths: Record<string, Record<string, Operation>>;
  [name: string]: unknown;
}

/** A request to be sent, with `known:…` where the id of something real goes. */
export interface Plan {
  operationId: string;
  method: string;
  path: string;
  caller: CallerName;
  headers: Record<string, string>;
  /** JSON text, or bytes in base64 for uploads. */
  body: { json: string } | { base64: string } | undefined;
}

/** Ending these would end the run, not test it. */
const LEFT_OUT = new Set(["logout", "eraseAccount"]);

const header = fc.string({ unit: fc.constantFrom(...'abcXYZ019-_.*"/ ,;='), maxLength: 40 });

const oddHeaders: Arbitrary<Record<string, string>> = fc.record(
  {
    "idempotency-key": fc.oneof(fc.constantFrom("k1", "k2", "k3"), header),
    "if-match": fc.oneof(fc.constant("*"), fc.constant('"stale"'), header),
    "if-none-match": fc.oneof(fc.constant("*"), header),
    "x-request-id": header,
    accept: fc.constantFrom("*/*", "application/json", "text/plain", "text/vtt", "image/png"),
    range: fc.constantFrom("bytes=0-1", "bytes=-5", "bytes=9-3", "bytes=999999999-", "x"),
    "accept-language": header,
  },
  { requiredKeys: [] },
);

/** Requests of every operation of the document: right, nearly right, and nonsense. */
export function requestPlans(document: OpenApiDocument): Arbitrary<Plan> {
  const resolve: Resolve = (reference) =>
    reference
      .slice(2)
      .split("/")
      .reduce<Schema>((node, name) => node[name.replaceAll("~1", "/")] as Schema, document);
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, operation]) => !LEFT_OUT.has(operation.operationId))
      .map(([method, operation]) => planOf(path, method, operation, resolve)),
  );
  return fc.oneof(...operations);
}

function planOf(
  template: string,
  method: string,
  operation: Operation,
  resolve: Resolve,
): Arbitrary<Plan> {
  const parameters = (operation.parameters ?? []).map((each) =>
    "$ref" in each ? (resolve(each.$ref) as unknown as Parameter) : each,
  );
  const odd = { weight: 1, arbitrary: oddHeaders };
  return fc
    .record({
      path: pathOf(template, parameters, resolve),
      query: queryOf(parameters, resolve),
      caller: callerOf(operation),
      headers: fc.oneof({ weight: 2, arbitrary: fc.constant({}) }, odd),
      sent: bodyOf(operation, resolve),
    })
    .map(({ path, query, caller, headers, sent }) => ({
      operationId: operation.operationId,
      method: method.toUpperCase(),
      path: query === "" ? path : `${path}?${query}`,
      caller,
      headers: { ...headers, ...sent.headers },
      body: sent.body,
    }));
}

/** Mostly somebody who may call at all. */
function callerOf({ security = [] }: Operation): Arbitrary<CallerName> {
  const accepted = security.flatMap((scheme): CallerName[] => {
    if ("bearer" in scheme) return ["user", "user", "admin", "guest"];
    return "device_key" in scheme ? ["device"] : [];
  });
  const anyone = fc.constantFrom(...CALLERS);
  if (accepted.length === 0) return anyone;
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...accepted) },
    { weight: 1, arbitrary: anyone },
  );
}

function pathOf(
  template: string,
  parameters: readonly Parameter[],
  resolve: Resolve,
): Arbitrary<string> {
  const parts = template.split("/").map((part) => {
    const name = /^\{(.+)\}$/.exec(part)?.[1];
    if (name === undefined) return fc.constant(part);
    const schema = parameters.find((each) => each.name === name)?.schema ?? { type: "string" };
    const value = valid(schema, resolve, name).map((text) =>
      text === known(name) ? known(idName(template, name)) : encodeSegment(String(text)),
    );
    const odd = fc.constantFrom("x", "%00", "%ff", "0", "a".repeat(300));
    return fc.oneof({ weight: 9, arbitrary: value }, { weight: 1, arbitrary: odd });
  });
  return fc.tuple(...parts).map((segments) => segments.join("/"));
}

/** An empty segment, or one of dots, would be another path. */
function encodeSegment(text: string): string {
  return encodeURIComponent(wellFormed(text.slice(0, LONGEST))).replace(/^\.{0,2}$/, "-");
}

function queryOf(parameters: readonly Parameter[], resolve: Resolve): Arbitrary<string> {
  const queries = parameters.filter((each) => each.in === "query");
  const members = queries.map(({ name, schema }): [string, Arbitrary<string>] => {
    const right = valid(schema, resolve, name).map(String);
    const wrong = anything.map((value) =>
      typeof value === "string" ? value : JSON.stringify(value),
    );
    return [name, fc.oneof({ weight: 3, arbitrary: right }, { weight: 1, arbitrary: wrong })];
  });
  const required = queries.filter((each) => each.required === true).map(({ name }) => name);
  const record = fc.record<Record<string, string>, string>(Object.fromEntries(members), {
    requiredKeys: required,
  });
  // A list refuses what it does not know, the others ignore it.
  const unknown = fc.constantFrom({}, {}, {}, {}, { sort: "x" });
  return fc.tuple(record, unknown).map(([values, more]) =>
    Object.entries({ ...values, ...more })
      .map(([name, value]) => `${name}=${queryValue(String(value))}`)
      .join("&"),
  );
}

function queryValue(text: string): string {
  return text.startsWith("known:") ? text : encodeURIComponent(wellFormed(text.slice(0, LONGEST)));
}

/** Much more in a URL, and the head as a whole is too long for uWebSockets.js, which answers 431 itself. */
const LONGEST = 100;

/** URLs cannot carry half a surrogate pair. */
function wellFormed(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}

interface Sent {
  headers: Record<string, string>;
  body: Plan["body"];
}

const NOTHING: Arbitrary<Sent> = fc.constant({ headers: {}, body: undefined });

function bodyOf({ requestBody }: Operation, resolve: Resolve): Arbitrary<Sent> {
  if (requestBody === undefined) return NOTHING;
  const schema = requestBody.content["application/json"]?.schema;
  if (schema === undefined) return upload;
  const json = (value: unknown): Sent => ({
    headers: { "content-type": "application/json" },
    body: { json: JSON.stringify(value) ?? "" },
  });
  const garbage = fc.oneof(
    anything.map(json),
    fc.string().map((text) => ({ ...json(0), body: { json: text } })),
    header.map((type) => ({ ...json({}), headers: { "content-type": type } })),
  );
  return fc.oneof(
    { weight: 6, arbitrary: valid(schema, resolve).map(json) },
    { weight: 3, arbitrary: nearlyValid(schema, resolve).map(json) },
    { weight: 1, arbitrary: garbage },
    { weight: 1, arbitrary: NOTHING },
  );
}

const PCM = "audio/pcm;rate=16000;channels=1;encoding=s16le";

const upload: Arbitrary<Sent> = fc
  .record({
    bytes: fc.uint8Array({ maxLength: 4_000 }),
    type: fc.constantFrom(PCM, "audio/wav", "audio/ogg", "multipart/form-data; boundary=x", "x"),
    sequence: fc.oneof(fc.nat(5).map(String), fc.constantFrom("-1", "x", "99999999999", "1.5")),
  })
  .map(({ bytes, type, sequence }) => ({
    headers: { "content-type": type, "x-chunk-sequence": sequence },
    body: { base64: Buffer.from(bytes).toString("base64") },
  }));
