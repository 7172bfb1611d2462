import type { TSchema } from "@sinclair/typebox";
import { exampleOf } from "../rest/examples.ts";
import { type JsonObject, SchemaPrinter } from "../rest/schema-printer.ts";
import { DEVICE_FRAME_SCHEMAS, DEVICE_SERVER_FRAMES } from "../wire/device-frames.ts";
import { SERVER_FRAMES } from "../wire/live-frames.ts";
import { VIEWER_FRAME_SCHEMAS } from "../wire/viewer-frames.ts";
import { FRAME_EXAMPLES } from "./frame-examples.ts";
import { DEVICE_CHANNEL, LIVE_GUIDE, SESSION_CHANNEL, VIEWER_CHANNEL } from "./live-guide.ts";

const VIEWER_TEXT: Readonly<Record<keyof typeof VIEWER_FRAME_SCHEMAS, string>> = {
  Subscribe:
    "Follow a session. Without `from_seq`, or with one that the session has not reached or that was of another `from_at`, a Snapshot comes first; else every durable event after it: with 0 all of them from the beginning.",
  Unsubscribe: "Follow it no longer.",
  KeepAlive: "Keeps a silent connection open.",
};

const DEVICE_TEXT: Readonly<Record<keyof typeof DEVICE_FRAME_SCHEMAS, string>> = {
  Configure:
    "What is streamed and where to: the session that is named, else the one that the device records, else a new one.",
  Resume:
    "Goes on with the audio settings of the connection before, and `interim_results`; `transcript` is asked for anew. `audio_offset_bytes` is the oldest byte that the device still has; what lies between the last one stored and it becomes silence.",
  Heartbeat: "How the device does; all members are optional.",
  Finalize: "Ends the utterance in hand.",
  KeepAlive: "Keeps a silent connection open.",
  CloseStream:
    "Nothing more comes on this connection: what comes behind it is ignored. Once all is stored, the last AudioAck and 1000 follow. The session goes on.",
};

const BINDINGS: JsonObject = {
  ws: {
    method: "GET",
    query: {
      type: "object",
      properties: {
        ticket: { type: "string", description: "A live ticket, where no header can be set." },
      },
    },
  },
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
  const fromDevice = deviceMessages();
  const toDevice: [string, Described][] = Object.entries(DEVICE_SERVER_FRAMES);
  const messages: JsonObject = { Audio: audioMessage() };
  for (const [name, frame] of [...fromViewer, ...fromService, ...fromDevice, ...toDevice]) {
    messages[name] = message(name, frame, printer);
  }
  const viewerNames = [...fromViewer, ...fromService].map(([name]) => name);
  const deviceNames = [...new Set([...fromDevice, ...toDevice].map(([name]) => name))];
  return {
    asyncapi: "3.0.0",
    info: {
      ...info,
      license: { name: "MIT", url: "https://opensource.org/license/mit" },
      description: LIVE_GUIDE,
    },
    defaultContentType: "application/json",
    servers: { here: server() },
    channels: {
      live: channel(viewerNames),
      deviceStream: deviceChannel([...deviceNames, "Audio"]),
      sessionStream: sessionChannel([...deviceNames, "Audio"]),
    },
    operations: {
      receiveFromViewer: operation("live", "receive", "What a viewer sends", fromViewer),
      sendToViewer: operation("live", "send", "What a viewer gets", fromService),
      receiveFromDevice: operation("deviceStream", "receive", "What a device sends", [
        ...fromDevice,
        ["Audio"],
      ]),
      sendToDevice: operation("deviceStream", "send", "What a device gets", toDevice),
      receiveFromProgram: operation("sessionStream", "receive", "What a program sends", [
        ...fromDevice,
        ["Audio"],
      ]),
      sendToProgram: operation("sessionStream", "send", "What a program gets", toDevice),
    },
    components: { messages, securitySchemes: SECURITY_SCHEMES },
  };
}

const KEY = { type: "httpApiKey", in: "header", name: "X-API-Key" };

const SECURITY_SCHEMES = {
  bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
  deviceKey: { ...KEY, description: "The device's key." },
  serviceKey: { ...KEY, description: "A service key of one workspace." },
  ticket: {
    type: "httpApiKey",
    in: "query",
    name: "ticket",
    description: "From POST /auth/live-ticket: for browsers, single use, 30 s.",
  },
} satisfies JsonObject;

function server(): JsonObject {
  return {
    host: "{host}",
    pathname: "/api",
    protocol: "ws",
    description: "`wss` where a proxy with TLS stands before the service.",
    variables: { host: { default: "localhost:8080" } },
  };
}

/** Who may open a channel, by its name. */
const SECURITY: Readonly<Record<string, readonly (keyof typeof SECURITY_SCHEMES)[]>> = {
  live: ["bearer", "serviceKey", "ticket"],
  deviceStream: ["deviceKey", "ticket"],
  sessionStream: ["serviceKey"],
};

function channel(names: readonly string[]): JsonObject {
  return {
    address: "/live",
    title: "Follow sessions",
    summary: "Sessions as they happen. One socket may follow several.",
    description: VIEWER_CHANNEL,
    messages: Object.fromEntries(
      names.map((name) => [name, { $ref: `#/components/messages/${name}` }]),
    ),
    bindings: BINDINGS,
  };
}

function message(
  name: string,
  { summary, payload }: Described,
  printer: SchemaPrinter,
): JsonObject {
  const printed: JsonObject = { name, title: name, summary, payload: printer.print(payload) };
  const example = exampleOf(payload, "", FRAME_EXAMPLES[name]);
  if (typeof example === "object" && example !== null && !Array.isArray(example)) {
    printed.examples = [{ payload: example }];
  }
  return printed;
}

function operation(
  address: string,
  action: "send" | "receive",
  title: string,
  frames: readonly (readonly [string, ...unknown[]])[],
): JsonObject {
  return {
    action,
    title,
    channel: { $ref: `#/channels/${address}` },
    security: (SECURITY[address] ?? []).map((name) => ({
      $ref: `#/components/securitySchemes/${name}`,
    })),
    messages: frames.map(([name]) => ({ $ref: `#/channels/${address}/messages/${name}` })),
  };
}

/** Message names follow the document: two different frames of one type have two names. */
function deviceMessages(): [string, Described][] {
  return Object.entries(DEVICE_FRAME_SCHEMAS).map(([type, payload]) => {
    const name = type === "Heartbeat" ? "DeviceHeartbeat" : type;
    return [name, { summary: DEVICE_TEXT[type as keyof typeof DEVICE_TEXT], payload }];
  });
}

function audioMessage(): JsonObject {
  return {
    name: "Audio",
    title: "Audio",
    summary:
      "A binary message: the next bytes of the stream, as Configure said. At most 1 MiB; 20 to 100 ms of audio are usual.",
    contentType: "application/octet-stream",
    payload: { type: "string", format: "binary" },
  };
}

function deviceChannel(names: readonly string[]): JsonObject {
  return {
    address: "/devices/{device_id}/stream",
    title: "Stream audio",
    summary: "Audio of a device as it is recorded.",
    description: DEVICE_CHANNEL,
    parameters: { device_id: { description: "UUID of the device" } },
    messages: Object.fromEntries(
      names.map((name) => [name, { $ref: `#/components/messages/${name}` }]),
    ),
    bindings: BINDINGS,
  };
}

function sessionChannel(names: readonly string[]): JsonObject {
  return {
    address: "/sessions/{session_id}/stream",
    title: "Stream audio into a session of one's own",
    summary: "Audio that a company's server has, of a session that its service key began.",
    description: SESSION_CHANNEL,
    parameters: { session_id: { description: "UUID of the session, which records" } },
    messages: Object.fromEntries(
      names.map((name) => [name, { $ref: `#/components/messages/${name}` }]),
    ),
    bindings: BINDINGS,
  };
}
