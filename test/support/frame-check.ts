import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { asyncApiDocument } from "../../src/http/async-api.ts";

type Node = Record<string, unknown>;

interface Document {
  operations: Record<"sendToViewer" | "sendToDevice", { messages: { $ref: string }[] }>;
  components: { messages: Record<string, { payload: Node & { properties: { type: Node } } }> };
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
const checks = new Map<unknown, ValidateFunction[]>();

const document = asyncApiDocument({ title: "t", version: "1" }) as unknown as Document;
const { sendToViewer, sendToDevice } = document.operations;
for (const { $ref } of [...sendToViewer.messages, ...sendToDevice.messages]) {
  const { payload } = document.components.messages[$ref.split("/").at(-1) ?? ""] ?? {};
  const type = payload?.properties.type.const;
  checks.set(type, [...(checks.get(type) ?? []), ajv.compile(closed(payload) as Node)]);
}

/** The schema with members that it does not name refused, at every depth. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const members = Object.entries(schema).map(([name, member]) => [name, closed(member)]);
  const copy = Object.fromEntries(members);
  return "properties" in schema ? { ...copy, additionalProperties: false } : copy;
}

/** What is wrong with a frame of the service against the AsyncAPI document; undefined when nothing is. */
export function frameProblem(frame: { type: string }): string | undefined {
  const known = checks.get(frame.type);
  if (known === undefined) return `A frame of the type ${frame.type} is not declared.`;
  if (known.some((check) => check(frame))) return undefined;
  const errors = known.map((check) => ajv.errorsText(check.errors)).join(" or ");
  return `A ${frame.type} off its schema: ${errors}: ${JSON.stringify(frame)}`;
}
