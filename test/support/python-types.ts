import { liveSchemas } from "./api-schema-text.ts";
import { wholeDocument } from "./whole-document.ts";

/** What the Python package has of the OpenAPI document, by its own names; and what these refer to. */
const FROM_DOCUMENT: Readonly<Record<string, string>> = {
  Session: "Session",
  SessionDetail: "SessionDetail",
  NewSession: "CreateSessionRequest",
  SegmentPage: "SegmentPage",
  Completeness: "Completeness",
  Upload: "Upload",
  DeletionReceipt: "DeletionReceipt",
  Answer: "Answer",
  Citation: "Citation",
};
/** Python's words that are no names. */
const KEYWORDS = new Set(["from", "import", "class", "global", "in", "is", "pass", "return"]);

interface Schema {
  $ref?: string;
  const?: unknown;
  enum?: unknown[];
  type?: string | string[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
  nullable?: boolean;
}

/**
 * The module of `TypedDict`s that the Python package has for bodies, frames and webhooks' messages,
 * as the service's schemas give them now.
 */
export async function pythonTypesText(): Promise<string> {
  const document = (await wholeDocument()) as unknown as Document;
  const printer = new PythonTypes({ ...document.components.schemas, ...frames() });
  for (const [name, schema] of Object.entries(FROM_DOCUMENT)) printer.name(schema, name);
  for (const name of Object.keys(FROM_DOCUMENT)) printer.named(name);
  for (const name of ["ServerFrame", "StreamServerFrame", "WebhookMessage"]) printer.named(name);
  printer.named("StreamConfiguration");
  return printer.text();
}

interface Document {
  components: { schemas: Record<string, Schema> };
}

function frames(): Record<string, Schema> {
  const schemas = JSON.parse(JSON.stringify(liveSchemas())) as Record<string, Schema>;
  const { ConfigureOrder: configure = {} } = schemas;
  const { type: _type, ...properties } = configure.properties ?? {};
  const required = configure.required?.filter((name) => name !== "type") ?? [];
  const named = Object.entries(schemas).map(([name, schema]): [string, Schema] => [
    /^(StreamServerFrame|ServerFrame|WebhookMessage|\w+Message)$/.test(name)
      ? name
      : `${name}Frame`,
    renamed(schema),
  ]);
  return {
    ...Object.fromEntries(named),
    StreamConfiguration: { type: "object", properties, required },
  };
}

/** `Error` is a class of Python's, and most frames have a body of the same name beside them. */
function renamed(schema: Schema): Schema {
  const text = JSON.stringify(schema).replaceAll(
    /"#\/components\/schemas\/(\w+)"/g,
    (whole, name: string) =>
      name.endsWith("Message") ? whole : `"#/components/schemas/${name}Frame"`,
  );
  return JSON.parse(text) as Schema;
}

class PythonTypes {
  readonly #schemas: Readonly<Record<string, Schema>>;
  readonly #names = new Map<string, string>();
  readonly #own = new Map<string, string>();
  /** Classes and aliases in the order in which Python has to read them. */
  readonly #printed = new Map<string, string>();

  constructor(schemas: Readonly<Record<string, Schema>>) {
    this.#schemas = schemas;
  }

  /** Calls a schema of the document by another name. */
  name(schema: string, name: string): void {
    this.#names.set(schema, name);
    this.#own.set(name, schema);
  }

  /** Prints a schema that has a name; returns the name. */
  named(name: string): string {
    const from = this.#own.get(name) ?? name;
    const schema = this.#schemas[from];
    if (schema === undefined) throw new Error(`there is no schema ${from}`);
    if (!this.#printed.has(name)) this.define(name, schema);
    return name;
  }

  define(name: string, schema: Schema): void {
    if (schema.properties !== undefined) return this.#class(name, schema);
    this.#printed.set(name, "");
    const text = this.#expression(name, schema);
    this.#printed.delete(name);
    this.#printed.set(name, `${name} = ${text}\n`);
  }

  text(): string {
    return `${HEAD}\n${[...this.#printed.values()].join("\n\n").trimEnd()}\n`;
  }

  #class(name: string, { properties = {}, required = [] }: Schema): void {
    this.#printed.set(name, "");
    const members = Object.entries(properties).map(([member, schema]): [string, string] => {
      const type = this.#expression(`${name}${pascal(member)}`, schema);
      return [member, required.includes(member) ? type : `NotRequired[${type}]`];
    });
    this.#printed.delete(name);
    const isSpoken = members.every(([member]) => /^\w+$/.test(member) && !KEYWORDS.has(member));
    const lines = members.map(([member, type]) =>
      isSpoken ? `    ${member}: ${type}\n` : `        ${JSON.stringify(member)}: "${type}",\n`,
    );
    const body = lines.join("") || "    pass\n";
    this.#printed.set(
      name,
      isSpoken
        ? `class ${name}(TypedDict):\n${body}`
        : `${name} = TypedDict(\n    "${name}",\n    {\n${lines.join("")}    },\n)\n`,
    );
  }

  #expression(name: string, schema: Schema): string {
    const { $ref, const: constant, oneOf, anyOf, allOf } = schema;
    if ($ref !== undefined) {
      const target = $ref.split("/").at(-1) ?? "";
      return this.named(this.#names.get(target) ?? target);
    }
    if (constant !== undefined) return `Literal[${literal(constant)}]`;
    if (schema.enum !== undefined) return `Literal[${schema.enum.map(literal).join(", ")}]`;
    const forms = oneOf ?? anyOf ?? (allOf?.length === 1 ? allOf : undefined);
    if (forms !== undefined) {
      const types = forms.map((each, at) =>
        this.#expression(forms.length === 1 ? name : `${name}${at + 1}`, each),
      );
      const all = [...new Set(types)];
      return all.length === 1 ? (all[0] ?? "Any") : `Union[${all.join(", ")}]`;
    }
    const kinds = [schema.type ?? "any"].flat();
    const types = kinds.map((kind) => this.#kind(name, kind, schema));
    return types.length === 1 ? (types[0] ?? "Any") : `Union[${types.join(", ")}]`;
  }

  #kind(name: string, kind: string, schema: Schema): string {
    if (kind === "array") return `List[${this.#expression(singular(name), schema.items ?? {})}]`;
    if (kind !== "object") return PLAIN[kind] ?? "Any";
    if (schema.properties !== undefined) {
      this.#class(name, schema);
      return name;
    }
    const { additionalProperties: others } = schema;
    if (typeof others !== "object") return "Dict[str, Any]";
    return `Dict[str, ${this.#expression(`${name}Value`, others)}]`;
  }
}

const HEAD = `# Made from the service's schemas by \`npm run client:python\`; not edited by hand.
"""What the service sends and takes, as the shapes of its OpenAPI and AsyncAPI documents."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Literal, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired

`;

const PLAIN: Readonly<Record<string, string>> = {
  string: "str",
  integer: "int",
  number: "float",
  boolean: "bool",
  null: "None",
};

function literal(value: unknown): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  // Double quotes would end the text of a member whose name is a word of Python.
  return typeof value === "string" ? `'${value}'` : JSON.stringify(value);
}

function pascal(member: string): string {
  return member.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_all, letter: string) =>
    letter.toUpperCase(),
  );
}

function singular(name: string): string {
  return name.endsWith("s") ? name.slice(0, -1) : `${name}Item`;
}
