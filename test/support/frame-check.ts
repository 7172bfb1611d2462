import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { asyncApiDocument } from "../../src/http/async-api.ts";

type Node = Record<string, unknown>;

/** The parts of an AsyncAPI document that say which messages go which way. */
export interface AsyncApi {
  operations: Record<string, { messages: { $ref: string }[] }>;
  components: { messages: Record<string, { payload: Node }> };
}

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });

/** Holds frames against the messages of some operations of an AsyncAPI document. */
export class FrameCheck {
  readonly #checks = new Map<unknown, ValidateFunction[]>();

  constructor({ operations, components }: AsyncApi, names: readonly string[]) {
    for (const { $ref } of names.flatMap((name) => operations[name]?.messages ?? [])) {
      const { payload } = components.messages[$ref.split("/").at(-1) ?? ""] ?? {};
      const type = (payload?.properties as { type: Node } | undefined)?.type.const;
      const known = this.#checks.get(type) ?? [];
      this.#checks.set(type, [...known, ajv.compile(closed(payload) as Node)]);
    }
  }

  /** What is wrong with a frame of the service; undefined when nothing is. */
  problem(frame: { type: string }): string | undefined {
    const known = this.#checks.get(frame.type);
    if (known === undefined) return `A frame of the type ${frame.type} is not declared.`;
    if (known.some((check) => check(frame))) return undefined;
    const errors = known.map((check) => ajv.errorsText(check.errors)).join(" or ");
    return `A ${frame.type} off its schema: ${errors}: ${JSON.stringify(frame)}`;
  }
}

/** The schema with members that it does not name refused, at every depth. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const members = Object.entries(schema).map(([name, member]) => [name, closed(member)]);
  const copy = Object.fromEntries(members);
  return "properties" in schema ? { ...copy, additionalProperties: false } : copy;
}

const OWN = new FrameCheck(asyncApiDocument({ title: "t", version: "1" }) as unknown as AsyncApi, [
  "sendToViewer",
  "sendToDevice",
]);

/** What is wrong with a frame of either channel; undefined when nothing is. */
export function frameProblem(frame: { type: string }): string | undefined {
  return OWN.problem(frame);
}
