import type { TSchema } from "@sinclair/typebox";
import { AppError } from "../base/errors.ts";
import { parseJson } from "./json-body.ts";
import { type SchemaCheck, SchemaChecks } from "./schema-check.ts";

/**
 * Reads text messages as frames of these schemas, by `type`. What it returns
 * throws `bad_request` with what is wrong with the message.
 */
export function frameParser<F extends { type: string }>(
  schemas: Record<F["type"], TSchema>,
): (bytes: Buffer) => F {
  const compiler = new SchemaChecks();
  const checks = new Map<string, SchemaCheck>(
    Object.entries<TSchema>(schemas).map(([type, schema]) => [
      type,
      compiler.body(schema, "The frame"),
    ]),
  );
  return (bytes) => {
    const value = parseFrameJson(bytes);
    const type = typeof value === "object" && value !== null && "type" in value ? value.type : "";
    const check = typeof type === "string" ? checks.get(type) : undefined;
    if (check === undefined) {
      const names = [...checks.keys()].join(", ");
      throw new AppError("bad_request", `"type" must be one of ${names}.`);
    }
    const problem = check(value);
    if (problem !== undefined) throw new AppError("bad_request", problem);
    return value as F;
  };
}

function parseFrameJson(bytes: Buffer): unknown {
  try {
    return parseJson(bytes);
  } catch {
    throw new AppError("bad_request", "The frame is not valid JSON.");
  }
}
