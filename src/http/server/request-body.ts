import { isUtf8 } from "node:buffer";
import type { Principal } from "../../access/principal.ts";
import { AppError } from "../../base/errors.ts";
import type { Request, Route, Upload } from "../../rest/route.ts";
import { isStorable } from "../../rest/storable-text.ts";
import { BodyClock, type BodyPace } from "./body-clock.ts";
import type { Exchange } from "./exchange.ts";
import { type Headers, type Incoming, parseQuery } from "./request.ts";

/** Length of the body in bytes by its headers; infinite when they state only that there is one. */
export function bodyLength(headers: Headers): number {
  if (headers["transfer-encoding"] !== undefined) return Number.POSITIVE_INFINITY;
  const length = Number(headers["content-length"] ?? 0);
  return Number.isFinite(length) && length > 0 ? length : 0;
}

/**
 * Refuses a body by its headers alone, before a byte is read: 413 and 415. For `Expect:
 * 100-continue`, uWebSockets.js sends the 100 before this check, and the refusal follows it.
 */
export function checkBodyHead(route: Route, headers: Headers, limit: number): void {
  // A body of a GET has no meaning, whatever its size.
  if (route.method === "get") return;
  const length = bodyLength(headers);
  if (Number.isFinite(length) && length > limit) throw tooLarge(limit);
  if (length === 0 || route.body === undefined) return;
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (encoding !== "identity") {
    throw new AppError("unsupported_media_type", "Compressed request bodies are not supported.");
  }
  if (route.body.kind === "json") checkJsonType(headers["content-type"] ?? "");
}

/** Refuses a body of bytes of another type than the route's. */
export function checkBytesType({ body }: Route, headers: Headers): void {
  if (body?.kind !== "bytes") return;
  const [type = ""] = (headers["content-type"] ?? "").toLowerCase().split(";");
  if (type.trim() === body.mediaType) return;
  const message = `Send the bytes with Content-Type: ${body.mediaType}.`;
  throw new AppError("unsupported_media_type", message);
}

function checkJsonType(contentType: string): void {
  const [type = "", ...parameters] = contentType.toLowerCase().split(";");
  const mediaType = type.trim();
  if (mediaType !== "application/json" && !mediaType.endsWith("+json")) {
    throw new AppError(
      "unsupported_media_type",
      "The request body must be JSON with the Content-Type application/json.",
    );
  }
  const charset = parameters.map((text) => text.trim()).find((text) => text.startsWith("charset="));
  const name = charset?.slice("charset=".length).replaceAll('"', "");
  if (name !== undefined && name !== "utf-8" && name !== "utf8") {
    throw new AppError("unsupported_media_type", "The request body must be encoded in UTF-8.");
  }
}

/** Thrown internally when the caller disconnected, so no answer is sent. */
export class CallerGone extends Error {
  constructor() {
    super("The caller went away.");
    this.name = "CallerGone";
  }
}

export function tooLarge(limit: number): AppError {
  return new AppError("payload_too_large", `The request body is larger than ${limit} bytes.`);
}

interface BytesLimits {
  bytes: number;
  /** Longest time for the whole body, milliseconds. */
  totalMs: number;
  pace: BodyPace;
}

/**
 * Reads the whole body into memory. Rejects with 413 as soon as it exceeds the limit, and with
 * `body_timeout` when it comes too slowly.
 */
export function readBytes(exchange: Exchange, limits: BytesLimits): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let done = false;
    let clock: BodyClock | undefined;
    const settle = (act: () => void): void => {
      done = true;
      clock?.stop();
      act();
    };
    exchange.readBody({
      data(chunk) {
        size += chunk.byteLength;
        clock?.came(chunk.byteLength);
        if (size <= limits.bytes) chunks.push(chunk);
        else settle(() => reject(tooLarge(limits.bytes)));
      },
      end: () => settle(() => resolve(joined(chunks))),
      gone: () => settle(() => reject(new CallerGone())),
    });
    // Most bodies came with their head and need no clock.
    if (done) return;
    clock = new BodyClock(limits.pace, limits.totalMs, (error) => settle(() => reject(error)));
    clock.came(size);
  });
}

/** Joins chunks; most bodies come in one. */
function joined(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks;
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
}

/** Deepest nesting that is accepted: parsing costs much more with depth than with length. */
const MAX_DEPTH = 64;
/** Most members and elements in all; the largest body that any route takes has some hundreds. */
const MAX_VALUES = 20_000;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;

/**
 * What makes JSON cost much more than its length, if anything does: brackets outside of strings that
 * nest too deep, or too many values. Reads each byte once.
 */
function excessOf(bytes: Buffer): string | undefined {
  let depth = 0;
  let values = 1;
  let quoted = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (quoted && byte === BACKSLASH) at += 1;
    else if (byte === QUOTE) quoted = !quoted;
    else if (quoted) continue;
    else if (byte === COMMA) values += 1;
    else if (byte === 0x5b || byte === 0x7b) depth += 1;
    else if (byte === 0x5d || byte === 0x7d) depth -= 1;
    if (depth > MAX_DEPTH) return `nests deeper than ${MAX_DEPTH} levels`;
    if (values > MAX_VALUES) return `holds more than ${MAX_VALUES} values`;
  }
  return undefined;
}

/**
 * Parses UTF-8 JSON. Throws `invalid_json` with a sentence that names the fault; with `anyText`
 * strings may hold what PostgreSQL cannot store.
 */
export function parseJson(bytes: Buffer, anyText = false): unknown {
  const excess = excessOf(bytes);
  if (excess !== undefined) throw new AppError("invalid_json", `The JSON ${excess}.`);
  if (!isUtf8(bytes)) {
    throw new AppError("invalid_json", "The request body is not valid UTF-8.");
  }
  const text = bytes.toString("utf8", startsWithMark(bytes) ? 3 : 0);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new AppError("invalid_json", `The request body is not valid JSON${place(error)}.`);
  }
  // Only an escape can produce such text, so most bodies are not searched.
  if (!anyText && ESCAPED.test(text) && !isStorable(value)) {
    throw new AppError(
      "invalid_json",
      "The JSON holds a character that no text may hold: U+0000 or half a surrogate pair.",
    );
  }
  return value;
}

/** A byte order mark is not part of the text. */
function startsWithMark(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

const ESCAPED = /\\u(?:0000|d[89a-f])/i;

/** The position where the parser stopped, without quoting the body. */
function place(error: unknown): string {
  const message = error instanceof Error ? error.message : "";
  const at = /position (\d+)/.exec(message)?.[1];
  if (at !== undefined) return ` (at character ${Number(at) + 1})`;
  return message.includes("end of JSON") ? " (it ends too early)" : "";
}

/** A request as its route gets it. */
export class ServedRequest implements Request {
  readonly #exchange: Exchange;
  readonly id: string;
  readonly method: string;
  readonly params: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  principal: Principal | undefined;
  readonly address: string;
  readonly network: string;
  query: Readonly<Record<string, unknown>>;
  body: unknown = undefined;
  upload?: Upload;
  receive?: Request["receive"];
  call?: Request["call"];
  expected?: unknown;
  commandId?: string;

  constructor(
    incoming: Incoming,
    exchange: Exchange,
    params: Readonly<Record<string, string>>,
    principal: Principal | undefined,
  ) {
    this.#exchange = exchange;
    this.id = incoming.id;
    this.method = incoming.method;
    this.params = params;
    this.headers = incoming.headers;
    this.principal = principal;
    this.address = incoming.address;
    this.network = incoming.network;
    this.query = parseQuery(incoming.query);
  }

  /** Created when first used. */
  get signal(): AbortSignal {
    return this.#exchange.signal;
  }
}
