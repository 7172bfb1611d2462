import { type TSchema, Type } from "@sinclair/typebox";
import { AppError } from "../base/errors.ts";
import type { ViewerFrame } from "../wire/live-frames.ts";
import { parseJson } from "./json-body.ts";
import { type SchemaCheck, SchemaChecks } from "./schema-check.ts";

const SessionId = Type.String({ minLength: 1, maxLength: 128 });

/** What a viewer may send, by `type`. */
export const VIEWER_FRAME_SCHEMAS = {
  Subscribe: Type.Object({
    type: Type.Literal("Subscribe"),
    session_id: SessionId,
    from_seq: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  }),
  Unsubscribe: Type.Object({ type: Type.Literal("Unsubscribe"), session_id: SessionId }),
  KeepAlive: Type.Object({ type: Type.Literal("KeepAlive") }),
} as const satisfies Record<ViewerFrame["type"], TSchema>;

const checks = new SchemaChecks();
const CHECKS = new Map<string, SchemaCheck>(
  Object.entries(VIEWER_FRAME_SCHEMAS).map(([type, schema]) => [
    type,
    checks.body(schema, "The frame"),
  ]),
);

/** The frame in a text message; throws `bad_request` with what is wrong with it. */
export function parseViewerFrame(bytes: Buffer): ViewerFrame {
  const value = parseFrameJson(bytes);
  const type = typeof value === "object" && value !== null && "type" in value ? value.type : "";
  const check = typeof type === "string" ? CHECKS.get(type) : undefined;
  if (check === undefined) {
    const names = [...CHECKS.keys()].join(", ");
    throw new AppError("bad_request", `"type" must be one of ${names}.`);
  }
  const problem = check(value);
  if (problem !== undefined) throw new AppError("bad_request", problem);
  return value as ViewerFrame;
}

function parseFrameJson(bytes: Buffer): unknown {
  try {
    return parseJson(bytes);
  } catch {
    throw new AppError("bad_request", "The frame is not valid JSON.");
  }
}
