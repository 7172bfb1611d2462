import type { TSchema } from "@sinclair/typebox";
import { exampleOf } from "../rest/examples.ts";
import { LIVE_NAMES } from "../rest/live-names.ts";
import { type JsonObject, SchemaPrinter } from "../rest/schema-printer.ts";
import { DEVICE_FRAME_SCHEMAS, DEVICE_SERVER_FRAMES } from "../wire/device-frames.ts";
import { CLOSE, SERVER_FRAMES } from "../wire/live-frames.ts";
import { VIEWER_FRAME_SCHEMAS } from "../wire/viewer-frames.ts";
import { FRAME_EXAMPLES } from "./frame-examples.ts";
import { DEFAULT_LIVE_LIMITS as LIMITS } from "./sockets/live-limits.ts";

const VIEWER_TEXT: Readonly<Record<keyof typeof VIEWER_FRAME_SCHEMAS, string>> = {
  Subscribe:
    "Follow a session. Without `from_seq` a Snapshot comes first; with it every durable event after it: with 0 all of them from the beginning.",
  Unsubscribe: "Follow it no longer.",
  KeepAlive: "Keeps a silent connection open.",
};

const DEVICE_TEXT: Readonly<Record<keyof typeof DEVICE_FRAME_SCHEMAS, string>> = {
  Configure:
    "What is streamed and where to: the session that is named, else the one that the device records, else a new one.",
  Resume:
    "Goes on with the settings of the connection before. `audio_offset_bytes` is the oldest byte that the device still has; what lies between it and the last one stored becomes silence.",
  Heartbeat: "How the device does; all members are optional.",
  Finalize: "Ends the utterance in hand.",
  KeepAlive: "Keeps a silent connection open.",
  CloseStream:
    "Nothing more comes on this connection: what comes behind it is ignored. Once all is stored, the last AudioAck and 1000 follow. The session goes on.",
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
  tooSlow: "frames were not read in time: reconnect, and go on where you were",
  rate: "too many connections or frames",
};

const CLOSE_TABLE = [
  "| close code | meaning |",
  "|---|---|",
  ...Object.entries(CLOSE).map(
    ([name, code]) => `| ${code} | ${CLOSE_TEXT[name as keyof typeof CLOSE]} |`,
  ),
].join("\n");

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

const GUIDE = [
  "Sessions as they happen, over WebSocket: `/api/live` for people, programs and guests who read along, `/api/devices/{device_id}/stream` for devices that record.",
  "**Sign in** with the same credentials as REST: `Authorization: Bearer` (a user's or guest's token), `X-API-Key` (a service key, or the device's key on its stream). A browser cannot set headers on a WebSocket: it asks POST /auth/live-ticket and opens `/api/live?ticket=…`, once, within 30 s.",
  "**Follow** a session with Subscribe. Frames with `seq` are durable events, in order and without a gap; those without describe the moment and may be left out for a slow viewer. Times within a session are seconds of its timeline, `at` is the time of day.",
  "**Which message it is** says `type`, the message's name here, but for three that share one: a `Results` with `is_final` false is InterimResults (it has neither `seq` nor `at`), one with `is_final` true FinalResults; a `JobStatus` without `seq` is JobProgress; the `Heartbeat` that a device sends is DeviceHeartbeat. Ignore types and members that you do not know.",
  "**Go on after a break**: connect again, later each time, and send Subscribe with `from_seq`, the newest `seq` that you have. What came since is sent first, each event once, however long ago it was: events are kept as long as their session, and what is no longer in memory is read from the record. `from_seq` 0 gives the whole session from its first event on. Where words were replaced or erased since, a Stub of the same `seq` stands in place of the event that had them. A `from_seq` that the session has not reached is answered by the Warning `position_unknown` and a Snapshot. Without `from_seq` a Snapshot tells the state instead. A Heartbeat names the session's newest `seq`, so that a lost tail is noticed.",
  `**The same over REST** has other names:\n\n${LIVE_NAMES}`,
  `**Limits**: ${LIMITS.subscriptionsPerSocket} sessions on a socket, ${LIMITS.socketsPerCaller} sockets of one caller, text frames of ${LIMITS.frameBytes / 1024} KiB, ${LIMITS.messages.perMinute} frames a minute (${LIMITS.messages.burst} at once). A viewer for whom more than ${LIMITS.bufferedBytes / 1024 / 1024} MiB wait is closed. The service pings every ${LIMITS.pingMs / 1000} s, and closes a socket from which nothing came, no pong either, for ${LIMITS.idleMs / 1000} s.`,
  "**Errors** come as an Error frame: `code` is one of its schema's list, `message` says what to do, `retryable` whether the same may work later. What ends the connection has a close code besides; they are listed with each channel.",
].join("\n\n");

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
      description: GUIDE,
    },
    defaultContentType: "application/json",
    servers: { here: server() },
    channels: {
      live: channel(viewerNames),
      deviceStream: deviceChannel([...deviceNames, "Audio"]),
    },
    operations: {
      receiveFromViewer: operation("live", "receive", "What a viewer sends", fromViewer),
      sendToViewer: operation("live", "send", "What a viewer gets", fromService),
      receiveFromDevice: operation("deviceStream", "receive", "What a device sends", [
        ...fromDevice,
        ["Audio"],
      ]),
      sendToDevice: operation("deviceStream", "send", "What a device gets", toDevice),
    },
    components: { messages, securitySchemes: SECURITY_SCHEMES },
  };
}

const SECURITY_SCHEMES: JsonObject = {
  bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
  deviceKey: { type: "httpApiKey", in: "header", name: "X-API-Key" },
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
    protocol: "ws",
    description: "`wss` where a proxy with TLS stands before the service.",
    variables: { host: { default: "localhost:8080" } },
    security: [
      { $ref: "#/components/securitySchemes/bearer" },
      { $ref: "#/components/securitySchemes/ticket" },
      { $ref: "#/components/securitySchemes/deviceKey" },
    ],
  };
}

function channel(names: readonly string[]): JsonObject {
  return {
    address: "/live",
    title: "Follow sessions",
    summary: "Sessions as they happen. One socket may follow several.",
    description: `Text frames of JSON. Pages of other origins are refused unless configured.\n\n${CLOSE_TABLE}`,
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

const DEVICE_CHANNEL = [
  "Opened with the device's key as `X-API-Key`, or with `?ticket=`. Send Configure (or, after a break, Resume), wait for Begin, send audio from its `audio_offset_bytes` on, and keep what no AudioAck named yet.",
  "**To end**, send CloseStream and wait: everything that came is stored, then the last AudioAck and 1000 come. The session goes on until it is stopped: POST /devices/{device_id}/session/stop, with `last_chunk_sequence` one less than the `chunk_sequence` of that AudioAck, or without it, which means the same where all was streamed. It is answered with `processing`, and later with how the session ended. A session that is stopped while the stream is open ends it: SessionStatus, the Error `session_ended` and 1000; so close the stream first. Who never stops is stopped after 15 min without a sign of the device, where the operator set nothing else.",
  "A newer connection of the session closes the older with 4409.",
  "When the device's right ends (its owner left or was disabled, its key was revoked, it was unpaired), what came is stored, and an Error, the last AudioAck and 4401 follow: what lies behind that AudioAck may still be uploaded for 24 h, from its `chunk_sequence` on.",
  "`audio_offset_bytes` counts the bytes of all binary messages of the session's stream, over all connections, as the device sent them: of Opus those of its packets (with `length_prefixed` their lengths too), not samples.",
  "**Pace**: AudioAck comes as soon as audio is stored, at most ten times a second. Up to 1 MiB may lie ahead of the newest AudioAck; from there on the Warning `overloaded` says to wait (once, and again after less than 256 KiB lay ahead), and all is taken still. The message with which more than 8 MiB would lie ahead is not taken: the Error `overloaded` and 4429 come, what came before is stored, and the device goes on with Resume from the `audio_offset_bytes` of Begin. A device that keeps half a MiB ahead at most never meets either.",
  "**Words** come on this socket only when three things hold: Configure or Resume says `transcript` true, the device's owner has set `may_read` (PATCH /devices/{device_id}), and the session that it records is that owner's own and still recording. Begin says in `configuration.transcript` whether they do. Then come `Results`, `SegmentRevised`, `TranscriptReplaced`, `SpeakerRevision` and `Redacted`; otherwise the Error `forbidden`, and the recording goes on. With `from_seq` 0 the words of the whole session come first; there is no Snapshot, and a `from_seq` beyond the session's newest event counts as that event.",
  "Files are refused at the first bytes (`unsupported_media_type`), text and what is no Opus packets too (`not_audio`), each with 4400; a session that this Configure began then ends as `failed`. For a single broken packet there is the Warning `not_audio`, and silence in its place.",
  "4408 comes 10 s after the connection when nothing was said, and later after 60 s without any message or pong: a device that pauses answers pings or sends KeepAlive.",
  CLOSE_TABLE,
].join("\n\n");

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
