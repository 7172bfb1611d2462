import { GLOSSARY } from "./glossary.ts";

type Json = null | boolean | number | string | Json[] | JsonObject;

export type JsonObject = { [key: string]: Json };

/**
 * Turns schemas into plain JSON for a document. A schema with an `$id` is printed once, under
 * `components.schemas`, and referenced from then on. What a document's readers and generators of
 * clients need, and validation does not, is added here: descriptions of members that have one
 * meaning everywhere, formats of ids and times, and enums in place of unions of constants.
 */
export class SchemaPrinter {
  readonly components: JsonObject = {};

  /** `name` is that of the schema as a whole, if it has no `$id`. */
  print(schema: unknown, name?: string): Json {
    const plain: Json = JSON.parse(JSON.stringify(schema));
    return this.#walk(name === undefined ? plain : named(plain, name));
  }

  #walk(value: Json, member?: string): Json {
    if (Array.isArray(value)) return value.map((item) => this.#walk(item));
    if (value === null || typeof value !== "object") return value;
    const { $id, ...members } = value;
    const printed: JsonObject = {};
    for (const [name, part] of Object.entries(members)) {
      printed[name] = this.#part(name, part, typeof $id === "string" ? $id : undefined);
    }
    const explained = explain(asEnum(printed), member);
    if (typeof $id !== "string") return explained;
    return this.#define($id, explained);
  }

  #part(name: string, part: Json, id: string | undefined): Json {
    if (VERBATIM.has(name)) return part;
    if (name === "$ref") return reference(part);
    if (name !== "properties" || !isObject(part)) return this.#walk(part);
    const properties = Object.entries(part).map(([member, schema]): [string, Json] => {
      const printed = this.#walk(schema, member);
      if (member === "id" && isObject(printed)) printed.description ??= `UUID of this ${words(id)}`;
      return [member, printed];
    });
    return Object.fromEntries(properties);
  }

  /** The reference; where a member has a description of its own, with that. */
  #define(id: string, printed: JsonObject): Json {
    const known = this.components[id];
    const $ref = `#/components/schemas/${id}`;
    if (known === undefined || JSON.stringify(known) === JSON.stringify(printed)) {
      this.components[id] = printed;
      return { $ref };
    }
    const { description = "", ...rest } = printed;
    if (!isObject(known) || JSON.stringify(without(known)) !== JSON.stringify(rest)) {
      throw new Error(`Two different schemas have the $id ${id}.`);
    }
    return { $ref, description };
  }
}

/** Keywords whose values are no schemas. */
const VERBATIM: ReadonlySet<string> = new Set(["examples", "default", "const", "enum", "required"]);

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function without({ description: _description, ...rest }: JsonObject): JsonObject {
  return rest;
}

/** The object with an `$id`, unless it has one or has no members. */
function named(schema: Json, name: string): Json {
  if (!isObject(schema) || schema.$id !== undefined) return schema;
  return isObject(schema.properties) ? { ...schema, $id: name } : schema;
}

function reference(target: Json): Json {
  if (typeof target !== "string" || target.startsWith("#")) return target;
  return `#/components/schemas/${target}`;
}

/**
 * A union of constants as an enum, and a union of a plain type and null as that type or null:
 * generators make one type of them, and of the union several.
 */
function asEnum(schema: JsonObject): JsonObject {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || !anyOf.every(isObject)) return schema;
  const isNull = ({ type }: JsonObject): boolean => type === "null";
  const others = anyOf.filter((branch) => !isNull(branch));
  const nulls = anyOf.length > others.length ? [null] : [];
  const kind = others[0]?.type;
  if (typeof kind !== "string") return schema;
  const type: Json = nulls.length > 0 ? [kind, "null"] : kind;
  if (others.every((branch) => branch.const !== undefined && branch.type === kind)) {
    return { type, enum: [...others.map((branch) => branch.const ?? null), ...nulls], ...rest };
  }
  const [only] = others;
  if (others.length !== 1 || nulls.length === 0 || only === undefined) return schema;
  if (Array.isArray(only.enum)) return { ...only, type, enum: [...only.enum, null], ...rest };
  return { ...only, type, ...rest };
}

const IS_ID = /(?:^|_)id$/;
const IS_TIME = /(?:^|_)(?:at|since)$/;

/** Adds what the name of a member tells about it, where its schema does not. */
function explain(schema: JsonObject, member: string | undefined): JsonObject {
  if (member === undefined || schema.$ref !== undefined) return schema;
  const said = withDefault(schema.description ?? GLOSSARY[member], schema.default);
  const formatted = formatOf(schema, member);
  const items = isObject(schema.items) && member.endsWith("_ids") ? schema.items : undefined;
  const { default: _default, ...rest } = schema;
  return {
    ...rest,
    ...(formatted === undefined ? {} : { format: formatted }),
    ...(items === undefined ? {} : { items: { ...items, format: "uuid" } }),
    ...(said === undefined ? {} : { description: said }),
  };
}

/** A default is told in words: of its keyword generators conclude that the member is always there. */
function withDefault(said: Json | undefined, value: Json | undefined): Json | undefined {
  return value === undefined ? said : `${said}. \`${JSON.stringify(value)}\` by default`;
}

/** The format of an id or a time. A pattern or a length says that it is something else as well. */
function formatOf(schema: JsonObject, member: string): string | undefined {
  const { type, format, pattern, minLength, maxLength, enum: values } = schema;
  const isText = type === "string" || (Array.isArray(type) && type.includes("string"));
  const isOther = [format, pattern, minLength, maxLength, values, schema.const].some(
    (one) => one !== undefined,
  );
  if (!isText || isOther) return undefined;
  if (IS_ID.test(member)) return "uuid";
  return IS_TIME.test(member) ? "date-time" : undefined;
}

/** `GuestCode` as `guest code`. */
function words(id: string | undefined): string {
  return (id ?? "thing").replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
}
