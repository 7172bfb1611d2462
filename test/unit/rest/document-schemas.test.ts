import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { describe, expect, it } from "vitest";
import { wholeDocument } from "../../support/whole-document.ts";

type Node = Record<string, unknown>;

/** Members beyond which an object without a name is one that generators should know by name. */
const FEW = 3;

interface Found {
  where: string;
  schema: Node;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Every schema of a part of the document, with its place; values and examples are none. */
function* schemasOf(value: unknown, where: string): Generator<Found> {
  if (Array.isArray(value)) for (const one of value) yield* schemasOf(one, where);
  if (!isNode(value)) return;
  yield { where, schema: value };
  for (const [name, part] of Object.entries(value)) {
    if (["example", "examples", "enum", "const", "default", "required"].includes(name)) continue;
    if (name === "properties" && isNode(part)) {
      for (const [member, one] of Object.entries(part)) yield* schemasOf(one, `${where}.${member}`);
    } else yield* schemasOf(part, where);
  }
}

/** In its body, which is named, or in its query. */
function takesCursor({ requestBody, parameters }: Node, schemas: Record<string, Node>): boolean {
  const name = /schemas\/(\w+)"/.exec(JSON.stringify(requestBody) ?? "")?.[1] ?? "";
  const members = schemas[name]?.properties;
  if (isNode(members) && "cursor" in members) return true;
  return /"cursor"|Cursor"/.test(JSON.stringify(parameters) ?? "");
}

describe("the document's schemas", async () => {
  const document = await wholeDocument();
  const { schemas } = document.components as { schemas: Record<string, Node> };
  const all = [
    ...Object.entries(schemas).flatMap(([name, schema]) => [...schemasOf(schema, name)]),
    ...schemasOf(document.paths, "paths"),
    ...schemasOf(document.webhooks, "webhooks"),
  ];
  const members = all.flatMap(({ where, schema }) =>
    Object.entries(isNode(schema.properties) ? schema.properties : {}).map(
      ([name, member]): [string, Node] => [`${where}.${name}`, member as Node],
    ),
  );

  it("document: names what people speak of", () => {
    const known = [
      "Session",
      "Segment",
      "Device",
      "Job",
      "Speaker",
      "Workspace",
      "Webhook",
      "User",
    ];
    expect(Object.keys(schemas)).toEqual(expect.arrayContaining(known));
  });

  it("document: who takes a cursor says that a wrong one is refused", () => {
    const operations = Object.values(document.paths as Node).flatMap((item) =>
      Object.values(item as Record<string, Node>),
    );
    const taking = operations.filter((operation) => takesCursor(operation, schemas));
    const silent = taking.filter(({ responses }) => {
      return !String(((responses as Node)["400"] as Node)?.$ref).includes("InvalidParameter");
    });
    expect(taking.length).toBeGreaterThan(10);
    expect(silent.map(({ operationId }) => operationId)).toEqual([]);
  });

  it("document: describes every member and every parameter", () => {
    const bare = members.filter(
      ([, member]) => member.$ref === undefined && member.description === undefined,
    );
    expect(bare.map(([where]) => where)).toEqual([]);
    const operations = Object.values(document.paths as Node).flatMap((item) =>
      Object.values(item as Record<string, Node>),
    );
    const silent = operations.flatMap(({ operationId, parameters = [] }) =>
      (parameters as Node[])
        .filter((each) => each.$ref === undefined && each.description === undefined)
        .map(({ name }) => `${operationId} ${name}`),
    );
    expect(silent).toEqual([]);
  });

  it("document: tells of every request that changes something more than its title does", () => {
    const bare = Object.values(document.paths as Node).flatMap((item) =>
      Object.entries(item as Record<string, Node>)
        .filter(([method, { description = "" }]) => {
          return (
            ["post", "put", "patch"].includes(method) && !/^[A-Z\d`].*\.$/s.test(`${description}`)
          );
        })
        .map(([, { operationId }]) => operationId),
    );
    expect(bare).toEqual([]);
  });

  it("document: has no object twice, and none of many members, without a name", () => {
    const objects = all.filter(({ schema }) => isNode(schema.properties));
    const inline = objects.filter(({ schema }) => !Object.values(schemas).includes(schema));
    const seen = new Map<string, string[]>();
    for (const { where, schema } of inline) {
      if (Object.keys(schema.properties as Node).length <= FEW) continue;
      const text = JSON.stringify(schema);
      seen.set(text, [...(seen.get(text) ?? []), where]);
    }
    expect([...seen.values()].filter((places) => places.length > 1)).toEqual([]);
  });

  it("document: has enums in place of unions of constants", () => {
    const unions = all.filter(({ schema: { anyOf } }) => {
      return Array.isArray(anyOf) && anyOf.filter((one: Node) => "const" in one).length > 1;
    });
    expect(unions.map(({ where }) => where)).toEqual([]);
  });

  it("document: tells ids and times by their format", () => {
    const plain = members.filter(([where, { type, format, ...rest }]) => {
      if (type !== "string" || format !== undefined) return false;
      const isOther = ["pattern", "minLength", "maxLength", "enum", "const"].some(
        (one) => one in rest,
      );
      return !isOther && /[._](id|at)$/.test(where);
    });
    expect(plain.map(([where]) => where)).toEqual([]);
  });

  it("document: has examples that its schemas take, and that say something", () => {
    const ajv = new Ajv2020({ strict: false, validateSchema: false });
    addFormats.default(ajv);
    ajv.addSchema(document, "openapi");
    const wrong: string[] = [];
    const empty: string[] = [];
    for (const { where, value, pointer } of examplesOf(document)) {
      const check = ajv.getSchema(`openapi#${pointer}`);
      if (check?.(value) !== true) wrong.push(`${where}: ${ajv.errorsText(check?.errors)}`);
      empty.push(...placeholders(value).map((name) => `${where} ${name}`));
    }
    expect(wrong).toEqual([]);
    expect([...new Set(empty)]).toEqual([]);
  });
});

interface Example {
  where: string;
  value: unknown;
  /** Of its schema. */
  pointer: string;
}

function* examplesOf(document: Node): Generator<Example> {
  for (const [path, item] of Object.entries(document.paths as Record<string, Node>)) {
    for (const [method, operation] of Object.entries(item as Record<string, Node>)) {
      const { requestBody, responses, parameters = [] } = operation;
      const base = ["paths", path, method];
      const where = String(operation.operationId);
      yield* contentExamples(requestBody, `${where} body`, [...base, "requestBody"]);
      for (const [status, answer] of Object.entries(responses as Node)) {
        yield* contentExamples(answer, `${where} ${status}`, [...base, "responses", status]);
      }
      for (const [at, each] of (parameters as Node[]).entries()) {
        if (each.example === undefined) continue;
        const pointer = pointerOf([...base, "parameters", String(at), "schema"]);
        yield { where: `${where} ${each.name}`, value: each.example, pointer };
      }
    }
  }
}

function* contentExamples(holder: unknown, where: string, base: string[]): Generator<Example> {
  const { content = {} } = (holder ?? {}) as { content?: Record<string, Node> };
  for (const [type, { examples = {} }] of Object.entries(content)) {
    for (const each of Object.values(examples as Record<string, { value: unknown }>)) {
      const pointer = pointerOf([...base, "content", type, "schema"]);
      yield { where, value: each.value, pointer };
    }
  }
}

function pointerOf(parts: readonly string[]): string {
  const escaped = parts.map((part) => part.replaceAll("~", "~0").replaceAll("/", "~1"));
  return `/${escaped.map(encodeURIComponent).join("/")}`;
}

/** Members whose text is only their own name, or part of it, or filled up. */
function placeholders(value: unknown, name = ""): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => placeholders(one, name));
  if (isNode(value)) {
    return Object.entries(value).flatMap(([member, one]) => placeholders(one, member));
  }
  if (typeof value !== "string" || name === "" || value === "") return [];
  const isName = name.startsWith(value) && value.length >= name.length - 2;
  return isName || /x{3}$/.test(value) ? [`${name}: ${value}`] : [];
}
