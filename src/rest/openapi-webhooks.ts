import type { TSchema } from "@sinclair/typebox";
import { JSON_TYPE, jsonContent } from "./openapi-bodies.ts";
import type { JsonObject, SchemaPrinter } from "./schema-printer.ts";

/** A message that is POSTed to webhooks. */
export interface WebhookMessage {
  type: string;
  summary: string;
  /** Of its body; has an `$id`. */
  schema: TSchema;
}

const header = (name: string, description: string): JsonObject => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string" },
});

/** The headers of Standard Webhooks. */
const HEADERS: JsonObject[] = [
  header("webhook-id", "Names the message, the same in every attempt: to drop what came twice"),
  header("webhook-timestamp", "When this attempt was made, Unix seconds: refuse old ones"),
  header(
    "webhook-signature",
    "`v1,` and the HMAC-SHA256 in base64 of id, timestamp and body with dots between; one for each secret in force, with spaces between",
  ),
];

/** The `webhooks` of a document. */
export function webhooksOf(
  messages: readonly WebhookMessage[],
  printer: SchemaPrinter,
): JsonObject {
  return Object.fromEntries(
    messages.map(({ type, summary, schema }) => [
      type,
      { post: post(type, summary, schema, printer) },
    ]),
  );
}

function post(type: string, summary: string, schema: TSchema, printer: SchemaPrinter): JsonObject {
  const body = jsonContent(schema, String(schema.$id), printer);
  return {
    operationId: `on${String(schema.$id)}`,
    summary,
    description: `Sent as \`${type}\` to every webhook that asks for it.`,
    security: [],
    parameters: HEADERS,
    requestBody: { required: true, content: { [JSON_TYPE]: body } },
    responses: {
      "2XX": { description: "It has arrived." },
      "410": { description: "Nobody listens here any more: the webhook is switched off." },
      default: { description: "It has not arrived, and is tried again." },
    },
  };
}
