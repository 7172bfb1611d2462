import { Type } from "@sinclair/typebox";

/** The answer of operations that return nothing else (interface 2.4). */
export const SuccessBody = Type.Object(
  { success: Type.Literal(true), message: Type.String() },
  { $id: "SuccessBody", additionalProperties: false },
);
