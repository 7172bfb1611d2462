import {
  BY_FORMAT,
  BY_NAME,
  exampleId,
  NOT_IN_STATE,
  PROGRESS,
  SAID,
  STATES,
  UNUSUAL,
} from "./example-values.ts";
import type { JsonObject } from "./schema-printer.ts";

type Json = JsonObject[string];
type Schema = Readonly<Record<string, Json | undefined>>;

/** Members that an example is to have; undefined leaves one out. */
export type ExampleInput = Readonly<Record<string, unknown>>;

/**
 * An example that the schema accepts: its own where it has one, else one made from its parts.
 * Undefined where the schema is too general.
 */
export function exampleOf(schema: unknown, name = "", given: ExampleInput = {}): Json | undefined {
  if (typeof schema !== "object" || schema === null) return undefined;
  const about = schema as Schema;
  const own = firstOf(about.examples) ?? about.const ?? about.default;
  if (own !== undefined) return isObject(own) ? withGiven(own, given) : own;
  if (Array.isArray(about.enum)) return choice(about.enum, name);
  const branches = about.anyOf ?? about.oneOf;
  if (Array.isArray(branches)) return branchExample(branches, name);
  if (Array.isArray(about.allOf)) return mergedExample(about.allOf, given);
  if (about.type === "object") return objectExample(about, name, given);
  if (about.type === "array") return arrayExample(about, name);
  return plainExample(about, name);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function firstOf(values: Json | undefined): Json | undefined {
  return Array.isArray(values) ? values[0] : undefined;
}

/** Plain JSON, without members that are undefined. */
function withGiven(own: JsonObject, given: ExampleInput): JsonObject {
  return JSON.parse(JSON.stringify({ ...own, ...given }));
}

/** The usual one of these values, else the first. */
function choice(values: readonly Json[], name: string): Json | undefined {
  const wanted = [BY_NAME[name], ...STATES];
  return wanted.find((one) => one !== undefined && values.includes(one)) ?? values[0];
}

/** Prefers null for members such as `next_cursor`, where the schema allows it. */
function branchExample(branches: readonly Json[], name: string): Json | undefined {
  const constants = branches.map((branch) => (isObject(branch) ? branch.const : undefined));
  if (constants.every((one) => one !== undefined)) return choice(constants as Json[], name);
  const usual = BY_NAME[name];
  if (usual !== undefined && branches.some((branch) => fits(branch, usual))) return usual;
  return exampleOf(branches[0], name);
}

function fits(branch: Json, value: Json): boolean {
  if (!isObject(branch)) return false;
  if (branch.const !== undefined || branch.enum !== undefined) return branch.const === value;
  return branch.type === (value === null ? "null" : typeof value);
}

function mergedExample(parts: readonly Json[], given: ExampleInput): JsonObject {
  return Object.assign({}, ...parts.map((part) => exampleOf(part, "", given)));
}

function objectExample(schema: Schema, name: string, given: ExampleInput): JsonObject {
  if (schema.properties === undefined && isObject(BY_NAME[name])) return BY_NAME[name];
  const properties = Object.entries(isObject(schema.properties) ? schema.properties : {});
  const required = Array.isArray(schema.required) ? schema.required : [];
  const thing = thingOf(typeof schema.$id === "string" ? schema.$id : name);
  const example: JsonObject = {};
  for (const [member, part] of properties) {
    if (UNUSUAL.has(member) && !required.includes(member) && !(member in given)) continue;
    const value =
      member in given
        ? (given[member] as Json | undefined)
        : exampleOf(part, member === "id" && thing !== "" ? `${thing}_id` : member);
    if (value !== undefined) example[member] = value;
  }
  return asItStands(example, required, given);
}

/** The example as it can be in its state: without what is not there yet. */
function asItStands(
  example: JsonObject,
  required: readonly Json[],
  given: ExampleInput,
): JsonObject {
  const { status } = example;
  for (const member of NOT_IN_STATE[String(status)] ?? []) {
    if (!required.includes(member) && !(member in given)) delete example[member];
  }
  const progress = PROGRESS[String(status)];
  if (progress !== undefined && "progress" in example) example.progress = progress;
  return example;
}

const QUALIFIERS =
  /^(?:issued|pending|plain|live|parked|guest|service|transcription|summary|stored)_|_(?:detail|with_secret)$/g;

/** What an `id` is one of: `IssuedGuestCode` and `codes` are a `code`. */
function thingOf(id: string): string {
  const snake = id.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase();
  let thing = snake;
  for (let before = ""; before !== thing; ) {
    before = thing;
    thing = thing.replaceAll(QUALIFIERS, "");
  }
  return ["caller", "colleague", "actor"].includes(thing) ? "user" : thing;
}

function singular(plural: string): string {
  return plural.replace(/ies$/, "y").replace(/s$/, "");
}

function arrayExample({ items, minItems }: Schema, name: string): Json {
  const usual = BY_NAME[name];
  if (Array.isArray(usual)) return usual;
  if (name === "words" && isObject(items) && isObject(items.properties)) {
    return SAID.map((said) => exampleOf(items, "word", said) ?? null);
  }
  const item = exampleOf(items, singular(name));
  if (item === undefined) return [];
  return Array.from({ length: Math.max(1, Number(minItems ?? 1)) }, () => item);
}

function plainExample(schema: Schema, name: string): Json | undefined {
  const usual = BY_NAME[name];
  if (schema.type === "string") {
    return typeof usual === "string" ? usual : textExample(schema, name);
  }
  if (schema.type === "boolean") return typeof usual === "boolean" ? usual : false;
  if (schema.type === "null") return null;
  if (schema.type !== "number" && schema.type !== "integer") return undefined;
  if (typeof usual === "number") return usual;
  const lowest = Number(schema.minimum ?? schema.exclusiveMinimum ?? 0);
  return Math.min(Math.max(1, lowest), Number(schema.maximum ?? Number.POSITIVE_INFINITY));
}

function textExample(schema: Schema, name: string): string {
  const formatted = BY_FORMAT[String(schema.format)];
  if (name === "id" || name.endsWith("_id")) return exampleId(name);
  if (typeof formatted === "string") return formatted;
  if (/_(?:at|time|since)$/.test(name)) return "2026-01-31T09:30:00.000Z";
  if (name.endsWith("_url")) return "https://voice.example.org/";
  if (name.endsWith("_token") || name.endsWith("secret")) return "c2VjcmV0LXNlY3JldC1zZWNyZXQ";
  return (name || "text").padEnd(Number(schema.minLength ?? 0), "x");
}
