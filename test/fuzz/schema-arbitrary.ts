import fc, { type Arbitrary } from "fast-check";

export type Schema = Readonly<Record<string, unknown>>;

/** Looks `#/…` references up. */
export type Resolve = (reference: string) => Schema;

/** Texts that have broken services before. */
const NASTY = [
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\u202e",
  "💥".repeat(20),
  "'; drop table users; --",
  "../../etc/passwd",
  "%00%2e",
  "null",
  "-1",
  "1e400",
  "x".repeat(5_000),
  "\u0301\u0316".repeat(20_000),
  "0".repeat(400),
];

const DATE = fc
  .date({ min: new Date("1990-01-01"), max: new Date("2090-01-01"), noInvalidDate: true })
  .map((date) => date.toISOString());

/** Anything that JSON can say. */
export const anything: Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(...NASTY),
  fc.constantFrom(null, -0, 1e308, -1, 0.5, 2 ** 53, true, [], {}),
);

const nasty = fc.constantFrom(...NASTY);

/** Values that the schema takes; `name` tells ids from other texts. */
export function valid(schema: Schema, resolve: Resolve, name = ""): Arbitrary<unknown> {
  if (typeof schema.$ref === "string") return valid(resolve(schema.$ref), resolve, name);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  const branches = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined;
  if (branches !== undefined) return fc.oneof(...branches.map((one) => valid(one, resolve, name)));
  if (Array.isArray(schema.allOf)) {
    const parts = schema.allOf.map((one: Schema) => valid(one, resolve));
    return fc.tuple(...parts).map((values) => Object.assign({}, ...values));
  }
  if (Array.isArray(schema.type)) {
    const kinds = schema.type.map((type) => valid({ ...schema, type }, resolve, name));
    return fc.oneof(...kinds);
  }
  if (schema.type === "object") return object(schema, resolve);
  if (schema.type === "array") return array(schema, resolve, name);
  return plain(schema, name);
}

function object(schema: Schema, resolve: Resolve): Arbitrary<unknown> {
  const properties = (schema.properties ?? {}) as Record<string, Schema>;
  const required = (schema.required ?? []) as string[];
  const members = Object.entries(properties).map(([name, member]) => [
    name,
    valid(member, resolve, name),
  ]);
  return fc.record<Record<string, unknown>, string>(Object.fromEntries(members), {
    requiredKeys: required,
  });
}

function array(schema: Schema, resolve: Resolve, name: string): Arbitrary<unknown> {
  const least = Number(schema.minItems ?? 0);
  const most = Math.min(Number(schema.maxItems ?? 5), least + 5);
  const items = (schema.items ?? {}) as Schema;
  return fc.array(valid(items, resolve, name.replace(/s$/, "")), {
    minLength: least,
    maxLength: most,
  });
}

function plain(schema: Schema, name: string): Arbitrary<unknown> {
  if (schema.type === "boolean") return fc.boolean();
  if (schema.type === "null") return fc.constant(null);
  if (schema.type === "integer") {
    return fc.integer({ min: low(schema, -1_000), max: high(schema, 100_000) });
  }
  if (schema.type === "number") {
    const bounds = { min: low(schema, -1e6), max: high(schema, 1e6) };
    return fc.double({ ...bounds, noNaN: true });
  }
  return schema.type === "string" ? text(schema, name) : anything;
}

const low = (schema: Schema, fallback: number) => Number(schema.minimum ?? fallback);
const high = (schema: Schema, fallback: number) =>
  Math.min(Number(schema.maximum ?? fallback), 2 ** 31 - 1);

function text(schema: Schema, name: string): Arbitrary<string> {
  if (name === "id" || name.endsWith("_id")) {
    return fc.oneof(
      { weight: 4, arbitrary: fc.constant(known(name)) },
      { weight: 1, arbitrary: fc.uuid() },
    );
  }
  if (schema.format === "date-time" || name.endsWith("_at")) return DATE;
  if (schema.format === "uri") return fc.webUrl();
  if (schema.format === "uuid") return fc.uuid();
  if (schema.format === "email" || name === "email") return fc.emailAddress();
  const minLength = Number(schema.minLength ?? 0);
  const maxLength = Math.min(Number(schema.maxLength ?? 60), minLength + 60);
  const free = fc.string({ unit: "grapheme", minLength, maxLength });
  if (typeof schema.pattern === "string") {
    return fc.stringMatching(new RegExp(schema.pattern)).map((value) => value.slice(0, 1_000));
  }
  return fc.oneof({ weight: 4, arbitrary: free }, { weight: 1, arbitrary: nasty });
}

/** Stands for the id of something that exists; put in when the request is sent. */
export function known(name: string): string {
  return `known:${name}`;
}

/** A valid value in which one thing is off. */
export function nearlyValid(schema: Schema, resolve: Resolve): Arbitrary<unknown> {
  return fc
    .tuple(valid(schema, resolve), fc.nat(), anything, fc.constantFrom("replace", "drop", "add"))
    .map(([value, index, other, how]) => disturb(value, index, other, how));
}

function disturb(value: unknown, index: number, other: unknown, how: string): unknown {
  if (typeof value !== "object" || value === null) return other;
  const names = Object.keys(value);
  if (how === "add" || names.length === 0) return { ...value, extra: other, __proto__x: other };
  const name = names[index % names.length] ?? "";
  const { [name]: _dropped, ...rest } = value as Record<string, unknown>;
  return how === "drop" ? rest : { ...rest, [name]: other };
}
