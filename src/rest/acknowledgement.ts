import { Type } from "@sinclair/typebox";
import type { Reply } from "./route.ts";

/** `{success: true, message}`: the answer of an action that returns no resource. */
export const acknowledgementSchema = Type.Object({
  success: Type.Literal(true),
  message: Type.String(),
});

export function acknowledge(message: string): Reply {
  return { status: 200, body: { success: true, message } };
}
