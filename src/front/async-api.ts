import type { TSchema } from "@sinclair/typebox";
import { exampleOf } from "../api/openapi-examples.ts";
import { type JsonObject, SchemaPrinter } from "../api/openapi-schemas.ts";
import { CLOSE } from "../wire/live-frames.ts";
import { SERVER_FRAMES } from "../wire/live-schemas.ts";
import { VIEWER_FRAME_SCHEMAS } from "./viewer-frame.ts";

const VIEWER_TEXT: Readonly<Record<keyof typeof VIEWER_FRAME_SCHEMAS, string>> = {
  Subscribe:
    "Follow a session. With `from_seq` every durable event after it comes first; without it a Snapshot.",
  Unsubscribe: "Follow it no longer.",
  KeepAlive: "Keeps a silent connection open.",
};

const CLOSE_TEXT: Readonly<Record<keyof typeof CLOSE, string>> = {
  done: "done",
  goingAway: "the service is stopping: reconnect, not all at once",
  tooLarge: "a frame was too large",
  protocol: "frames that make no sense",
  auth: "no longer signed in",
  forbidden: "no right to the session, or no longer",
  unknownSession: "no such session, or it was deleted",
  idle: "nothing was heard for too long",
  superseded: "a newer connection took its place",
  tooSlow: "frames were not read in time: reconnect with `from_seq`",
  rate: "too many connections or frames",
};

interface Described {
  summary: string;
  payload: TSchema;
}

/** The AsyncAPI 3.0 document of the live channel, from the schemas of its frames. */
export function asyncApiDocument(info: { title: string; version: string }): JsonObject {
  const printer = new SchemaPrinter();
  const fromViewer = Object.entries(VIEWER_FRAME_SCHEMAS).map(
    ([name, payload]): [string, Described] => [
      name,
      { summary: VIEWER_TEXT[name as keyof typeof VIEWER_TEXT], payload },
    ],
  );
  const fromService: [string, Described][] = Object.entries(SERVER_FRAMES);
  const messages: JsonObject = {};
  for (const [name, frame] of [...fromViewer, ...fromService]) {
    messages[name] = message(name, frame, printer);
  }
  return {
    asyncapi: "3.0.0",
    info: {
      ...info,
      license: { name: "MIT", url: "https://opensource.org/license/mit" },
      description: "The live channel.",
    },
    defaultContentType: "application/json",
    servers: { here: server() },
    channels: { live: channel(Object.keys(messages)) },
    operations: {
      receiveFromViewer: operation("receive", "What a viewer sends.", fromViewer),
      sendToViewer: operation("send", "What the service sends.", fromService),
    },
    components: { messages, securitySchemes: SECURITY_SCHEMES },
  };
}

const SECURITY_SCHEMES: JsonObject = {
  bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
  ticket: {
    type: "httpApiKey",
    in: "query",
    name: "ticket",
    description: "From POST /auth/live-ticket: for browsers, single use, 30 s.",
  },
};

function server(): JsonObject {
  return {
    host: "{host}",
    pathname: "/api",
    protocol: "wss",
    variables: { host: { default: "localhost:8080" } },
    security: [
      { $ref: "#/components/securitySchemes/bearer" },
      { $ref: "#/components/securitySchemes/ticket" },
    ],
  };
}

function channel(names: readonly string[]): JsonObject {
  const codes = Object.entries(CLOSE).map(
    ([name, code]) => `${code} ${CLOSE_TEXT[name as keyof typeof CLOSE]}`,
  );
  const ticket = { type: "string", description: "A live ticket, when there is no bearer." };
  return {
    address: "/live",
    summary: "Sessions as they happen. One socket may follow several.",
    description: `Text frames of JSON. Pages of other origins are refused unless configured. Close codes: ${codes.join("; ")}.`,
    messages: Object.fromEntries(
      names.map((name) => [name, { $ref: `#/components/messages/${name}` }]),
    ),
    bindings: {
      ws: { method: "GET", query: { type: "object", properties: { ticket } } },
    },
  };
}

function message(
  name: string,
  { summary, payload }: Described,
  printer: SchemaPrinter,
): JsonObject {
  const printed: JsonObject = { name, summary, payload: printer.print(payload) };
  const example = exampleOf(payload);
  if (typeof example === "object" && example !== null && !Array.isArray(example)) {
    printed.examples = [{ payload: example }];
  }
  return printed;
}

function operation(
  action: "send" | "receive",
  summary: string,
  frames: readonly [string, Described][],
): JsonObject {
  return {
    action,
    summary,
    channel: { $ref: "#/channels/live" },
    messages: frames.map(([name]) => ({ $ref: `#/channels/live/messages/${name}` })),
  };
}
