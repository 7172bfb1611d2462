import { Type } from "@sinclair/typebox";

/** Every error, and the answer of operations that return nothing else (interface 2.4). */
export const ErrorBody = Type.Object(
  {
    success: Type.Boolean({ description: "False for an error." }),
    message: Type.String({ description: "What happened, as a sentence for people." }),
  },
  { $id: "ErrorBody", additionalProperties: false },
);
