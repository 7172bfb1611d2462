import type { TSchema } from "@sinclair/typebox";
import {
  Ajv2020,
  type AnySchemaObject,
  type ErrorObject,
  type ValidateFunction,
} from "ajv/dist/2020.js";
import type { DataValidationCxt } from "ajv/dist/types/index.js";
import addFormats from "ajv-formats";
import { shown } from "../base/errors.ts";
import { NAME_KEYWORD, NAME_PATTERN, normalName } from "../wire/names.ts";
import { exampleOf } from "./examples.ts";

/** Checks a value. Returns undefined when it is valid, else one sentence about the fault. */
export type SchemaCheck = (value: unknown) => string | undefined;

function createAjv(coerceTypes: boolean): Ajv2020 {
  const ajv = new Ajv2020({
    strict: true,
    allowUnionTypes: true,
    strictRequired: false,
    coerceTypes,
    useDefaults: true,
    // Unknown members are removed, even where a schema would refuse them.
    removeAdditional: true,
    verbose: true,
  });
  ajv.addVocabulary(["example"]);
  ajv.addKeyword({
    keyword: NAME_KEYWORD,
    type: "string",
    schemaType: "boolean",
    modifying: true,
    errors: false,
    before: "maxLength",
    validate(
      _marked: boolean,
      name: string,
      schema: AnySchemaObject | undefined,
      at?: DataValidationCxt,
    ) {
      if (at === undefined) return true;
      at.parentData[at.parentDataProperty] = normalName(name, Number(schema?.maxLength));
      return true;
    },
  });
  addFormats.default(ajv);
  return ajv;
}

/**
 * Compiles each schema once, when it is first asked about: a start does not wait for the schemas of
 * all routes. Bodies are checked as they are; in parameters, text is converted to numbers and
 * booleans.
 */
export class SchemaChecks {
  readonly #strict = createAjv(false);
  readonly #coercing = createAjv(true);

  body(schema: TSchema, what = "The request body"): SchemaCheck {
    return toCheck(this.#strict, schema, what);
  }

  parameters(schema: TSchema, what: string): SchemaCheck {
    return toCheck(this.#coercing, schema, what);
  }
}

/** The schema without its names, which are for documents: a validator takes each only once. */
function withoutIds<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map(withoutIds) as T;
  if (typeof schema !== "object" || schema === null) return schema;
  const parts = Object.entries(schema).filter(([name]) => name !== "$id");
  return Object.fromEntries(parts.map(([name, part]) => [name, withoutIds(part)])) as T;
}

function toCheck(ajv: Ajv2020, schema: TSchema, whole: string): SchemaCheck {
  let validate: ValidateFunction | undefined;
  return (value) => {
    validate ??= ajv.compile(withoutIds(schema));
    return validate(value) ? undefined : describe(validate.errors ?? [], whole);
  };
}

/** One sentence that names the member and what was expected. */
function describe(errors: readonly ErrorObject[], whole: string): string {
  const error = errors.at(-1);
  if (error === undefined) return `${whole} is not as expected.`;
  if (error.keyword === "required") {
    const missing = memberName(`${error.instancePath}/${String(error.params.missingProperty)}`);
    return `"${missing}" is required.`;
  }
  const member = memberName(error.instancePath);
  return `${member === "" ? whole : `"${member}"`} ${expectation(error)}.`;
}

/** A JSON pointer such as `/words/0/start` in the form `words[0].start`. */
function memberName(pointer: string): string {
  let name = "";
  for (const raw of pointer.split("/").slice(1)) {
    const part = raw.replaceAll("~1", "/").replaceAll("~0", "~").slice(0, 100);
    if (/^\d+$/.test(part)) name += `[${part}]`;
    else name += name === "" ? part : `.${part}`;
  }
  return name;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  null: "null",
};

const FORMAT_NAMES: Readonly<Record<string, string>> = {
  uuid: "a UUID",
  email: "an e-mail address",
  "date-time": "a time as in 2026-01-31T12:00:00.000Z",
  uri: "a URI",
};

function expectation(error: ErrorObject): string {
  const { keyword, params } = error;
  if (keyword === "type") return `must be ${typeNames(params.type)}`;
  if (keyword === "format") return `must be ${FORMAT_NAMES[params.format] ?? params.format}`;
  if (keyword === "const") return `must be ${JSON.stringify(params.allowedValue)}`;
  if (keyword === "enum") return `must be one of ${list(params.allowedValues)}${butIs(error)}`;
  if (keyword === "anyOf" || keyword === "oneOf") return unionExpectation(error);
  if (keyword === "minLength") return `must have at least ${count(params.limit, "character")}`;
  if (keyword === "maxLength") return `must have at most ${count(params.limit, "character")}`;
  if (keyword === "minItems") return `must have at least ${count(params.limit, "item")}`;
  if (keyword === "maxItems") return `must have at most ${count(params.limit, "item")}`;
  if (keyword === "pattern") return patternExpectation(error);
  return error.message ?? "is not as expected";
}

const NOT_BLANK = "\\S";

/** Explains a pattern by an example; a pattern that only requires some text needs none. */
function patternExpectation({ params, parentSchema, instancePath }: ErrorObject): string {
  const pattern = String(params.pattern);
  if (pattern === NOT_BLANK) return "must not be blank";
  if (pattern === NAME_PATTERN) {
    return "must be in one line, without control characters and marks of writing direction";
  }
  const example = exampleOf(parentSchema, instancePath.split("/").at(-1));
  const fits = typeof example === "string" && new RegExp(pattern, "u").test(example);
  return `does not have the expected form${fits ? `, which is as in ${JSON.stringify(example)}` : ""}`;
}

function count(limit: unknown, thing: string): string {
  return `${String(limit)} ${thing}${limit === 1 ? "" : "s"}`;
}

function typeNames(type: unknown): string {
  const names = Array.isArray(type) ? type : [type];
  return names.map((name) => TYPE_NAMES[String(name)] ?? String(name)).join(" or ");
}

function list(values: unknown): string {
  return Array.isArray(values) ? values.map((value) => JSON.stringify(value)).join(", ") : "";
}

/** What stands there instead, where that is a text. */
function butIs({ data }: ErrorObject): string {
  return typeof data === "string" ? `, not "${shown(data)}"` : "";
}

/** Lists the values of a union of literals; other unions are only named as such. */
function unionExpectation(error: ErrorObject): string {
  const branches: unknown = error.schema;
  const literals: unknown[] = [];
  for (const branch of Array.isArray(branches) ? branches : []) {
    if (typeof branch === "object" && branch !== null && "const" in branch) {
      literals.push(branch.const);
    }
  }
  if (Array.isArray(branches) && literals.length === branches.length) {
    return `must be one of ${list(literals)}${butIs(error)}`;
  }
  return "matches none of the allowed forms";
}
