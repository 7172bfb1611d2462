import { createHmac, timingSafeEqual } from "node:crypto";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { AppError } from "../base/errors.ts";
import { type SchemaCheck, SchemaChecks } from "../rest/schema-check.ts";

/** The sound of a call comes as µ-law at this rate, Hz: a byte is a sample. */
export const CALL_RATE = 8_000;
/** Longest sound of one message, seconds; 20 ms are usual. */
const LONGEST_SECONDS = 2;
const PAYLOAD_CHARACTERS = Math.ceil((LONGEST_SECONDS * CALL_RATE) / 3) * 4;

/** The directions of a call: what the service's number hears of the caller, and what it plays. */
export const TRACKS = ["inbound", "outbound"] as const;

export type Track = (typeof TRACKS)[number];

/** A number of up to ten digits, as text. */
const digits = Type.String({ pattern: "^\\d{1,10}$" });
const streamSid = Type.String({ minLength: 1, maxLength: 100 });
const track = Type.Unsafe<Track>({ type: "string", enum: [...TRACKS] });

const startMessage = Type.Object({
  event: Type.Literal("start"),
  start: Type.Object({
    streamSid,
    tracks: Type.Array(track, { minItems: 1, maxItems: 2, uniqueItems: true }),
    mediaFormat: Type.Object({
      encoding: Type.String(),
      sampleRate: Type.Number(),
      channels: Type.Number(),
    }),
    customParameters: Type.Optional(Type.Object({ ticket: Type.Optional(Type.String()) })),
  }),
});

const mediaMessage = Type.Object({
  event: Type.Literal("media"),
  streamSid,
  media: Type.Object({
    track,
    chunk: digits,
    timestamp: digits,
    payload: Type.String({ maxLength: PAYLOAD_CHARACTERS }),
  }),
});

const stopMessage = Type.Object({ event: Type.Literal("stop"), streamSid });

const checks = new SchemaChecks();
const check = (schema: TSchema): SchemaCheck => checks.body(schema, "The message");
const CHECKS: ReadonlyMap<string, SchemaCheck> = new Map([
  ["start", check(startMessage)],
  ["media", check(mediaMessage)],
  ["stop", check(stopMessage)],
]);

/** The beginning of a call. */
export interface CallStart {
  event: "start";
  streamSid: string;
  tracks: readonly Track[];
  /** The parameter of this name, if it came with one. */
  ticket: string | undefined;
}

/** Sound of one direction. */
export interface CallMedia {
  event: "media";
  streamSid: string;
  track: Track;
  /** Counts the messages of the track, from 1. */
  chunk: number;
  /** When the sound begins, milliseconds from the beginning of the stream. */
  timestamp: number;
  /** µ-law. */
  sound: Uint8Array;
}

export type CallMessage =
  | CallStart
  | CallMedia
  | { event: "stop"; streamSid: string }
  /** `connected`, `dtmf`, `mark` and whatever may be added: nothing is done about them. */
  | { event: "other" };

/**
 * Reads a message of Twilio's Media Streams (https://www.twilio.com/docs/voice/media-streams). Throws
 * `bad_request` for what is none, `unsupported_media_type` for a call in another format.
 */
export function parseCallMessage(bytes: Buffer): CallMessage {
  const message = parseObject(bytes);
  const { event } = message;
  if (typeof event !== "string") throw new AppError("bad_request", "The message has no `event`.");
  const problem = CHECKS.get(event)?.(message);
  if (problem !== undefined) throw new AppError("bad_request", problem);
  switch (event) {
    case "start":
      return toStart(message as Static<typeof startMessage>);
    case "media":
      return toMedia(message as Static<typeof mediaMessage>);
    case "stop":
      return { event, streamSid: (message as Static<typeof stopMessage>).streamSid };
    default:
      return { event: "other" };
  }
}

function parseObject(bytes: Buffer): { event?: unknown } {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw new AppError("bad_request", "The message is not valid JSON.");
  }
  if (typeof value === "object" && value !== null) return value;
  throw new AppError("bad_request", "The message is not an object.");
}

function toStart({ start }: Static<typeof startMessage>): CallStart {
  const { encoding, sampleRate, channels } = start.mediaFormat;
  if (encoding !== "audio/x-mulaw" || sampleRate !== CALL_RATE || channels !== 1) {
    const message = `Calls are taken as audio/x-mulaw at ${CALL_RATE} Hz with 1 channel for each track.`;
    throw new AppError("unsupported_media_type", message);
  }
  const { streamSid: id, tracks, customParameters } = start;
  return { event: "start", streamSid: id, tracks, ticket: customParameters?.ticket };
}

function toMedia({ streamSid: id, media }: Static<typeof mediaMessage>): CallMedia {
  const { payload, chunk, timestamp } = media;
  const sound = Buffer.from(payload, "base64");
  // Node.js leaves out what is no base64.
  if (sound.toString("base64") !== payload) {
    throw new AppError("bad_request", "`media.payload` is not base64.");
  }
  return {
    event: "media",
    streamSid: id,
    track: media.track,
    chunk: Number(chunk),
    timestamp: Number(timestamp),
    sound,
  };
}

/** HMAC-SHA1 of the signed text: the full address, for a POST with its sorted parameters behind it. */
export function twilioSignature(token: string, text: string): Buffer {
  return createHmac("sha1", token).update(text, "utf8").digest();
}

/**
 * Checks that the request which opens a WebSocket at this address is Twilio's. Throws `forbidden`.
 *
 * @param token the auth token of the account
 * @param address as the call was told it, `wss://…`
 * @param given the header `X-Twilio-Signature`
 */
export function assertFromTwilio(token: string, address: string, given: string | undefined): void {
  const sent = Buffer.from(given ?? "", "base64");
  const isSigned = signedForms(address).some((form) => {
    const expected = twilioSignature(token, form);
    return sent.byteLength === expected.byteLength && timingSafeEqual(sent, expected);
  });
  if (isSigned) return;
  throw new AppError(
    "forbidden",
    "The header X-Twilio-Signature is not that of this address. The operator's PUBLIC_URL has to be the one that the call was told.",
  );
}

/** Calls are told `wss` only, and Twilio has signed the port of it and left it out. */
function signedForms(address: string): string[] {
  const secure = address.replace(/^ws:/, "wss:");
  const bare = secure.replace(/^(wss:\/\/[^/]*?):443(?=\/)/, "$1");
  const hasPort = /^wss:\/\/[^/]*:\d+\//.test(bare);
  return hasPort ? [bare] : [bare, bare.replace(/^(wss:\/\/[^/]*)/, "$1:443")];
}
