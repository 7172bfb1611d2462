import { type TSchema, Type } from "@sinclair/typebox";
import { type ExampleInput, exampleOf } from "./examples.ts";
import type { Route } from "./route.ts";
import type { JsonObject, SchemaPrinter } from "./schema-printer.ts";

export const JSON_TYPE = "application/json";

/** The body of every error, and of operations that return nothing else. */
export const ErrorBody = Type.Object(
  {
    success: Type.Boolean({ description: "False for an error." }),
    message: Type.String({ description: "What happened, as a sentence for people." }),
  },
  { $id: "ErrorBody", additionalProperties: false },
);

/** A JSON body with an example. `name` is that of its schema, unless it has an `$id`. */
export function jsonContent(
  schema: TSchema,
  name: string,
  printer: SchemaPrinter,
  { orError = false, given }: { orError?: boolean; given?: ExampleInput } = {},
): JsonObject {
  const own = printer.print(schema, name);
  const content: JsonObject = {
    schema: orError ? { anyOf: [own, printer.print(ErrorBody)] } : own,
  };
  const example = exampleOf(schema, "", given);
  if (example !== undefined) content.examples = { example: { value: example } };
  return content;
}

/** The name of a schema that belongs to one route only: `login` and `Request` as `LoginRequest`. */
export function ownName({ id }: Route, end: "Request" | "Response"): string {
  return `${id.slice(0, 1).toUpperCase()}${id.slice(1)}${end}`;
}

const BYTES: JsonObject = { type: "string", format: "binary" };

/** The `requestBody` of a route that takes one. */
export function requestBody(
  route: Route,
  body: NonNullable<Route["body"]>,
  printer: SchemaPrinter,
): JsonObject {
  if (body.kind === "json") {
    const schema =
      body.closed === true ? { ...body.schema, additionalProperties: false } : body.schema;
    const content = { [JSON_TYPE]: jsonContent(schema, ownName(route, "Request"), printer) };
    return { required: body.optional !== true, content };
  }
  if (body.kind === "bytes") {
    return { required: true, content: { [body.mediaType]: { schema: BYTES } } };
  }
  const fields = body.form === undefined ? {} : (printer.print(body.form) as JsonObject);
  const required = Array.isArray(fields.required) ? fields.required : [];
  const form: JsonObject = {
    type: "object",
    required: ["file", ...required],
    properties: {
      file: { ...BYTES, description: "The audio" },
      ...(fields.properties as JsonObject | undefined),
    },
  };
  const raw = (body.mediaTypes ?? ["*/*"]).map((type) => [type, { schema: BYTES }]);
  return {
    required: true,
    content: { "multipart/form-data": { schema: form }, ...Object.fromEntries(raw) },
  };
}
