import type { HttpResponse } from "uWebSockets.js";
import { STATUS_CODES } from "node:http";
import { createDeferred, type Deferred } from "../../base/deferred.ts";
import type { BodyStream, EventStream } from "../../rest/route.ts";

/** The part of a response that the writer uses; `close` must lead to `gone`. */
type WritableResponse = Pick<
  HttpResponse,
  "cork" | "tryEnd" | "onWritable" | "getWriteOffset" | "close"
>;

interface WriterPace {
  /** Longest time in which nothing is read, milliseconds. */
  stallMs: number;
  /** Lowest rate at which a part is taken, beyond the first `stallMs`. */
  bytesPerSecond: number;
}

interface Waiting {
  chunk: Uint8Array;
  /** Offset of the chunk's first byte in the body. */
  from: number;
  taken: Deferred<boolean>;
}

/**
 * Writes a body of known length at the client's pace: one part at a time, the next one only when
 * the socket took the last. A client that reads nothing for `stallMs`, or takes a part at less than
 * `bytesPerSecond`, loses its connection.
 */
export class BodyWriter {
  readonly #res: WritableResponse;
  readonly #length: number;
  readonly #pace: WriterPace;
  /** When the part that waits must have been taken, monotonic milliseconds. */
  #takenBy = 0;
  #waiting: Waiting | undefined;
  #stall: NodeJS.Timeout | undefined;
  #state: "open" | "complete" | "gone" = "open";

  constructor(res: WritableResponse, length: number, pace: WriterPace) {
    this.#res = res;
    this.#length = length;
    this.#pace = pace;
    res.onWritable((offset) => this.#writable(offset));
  }

  /** True when the last byte was handed over; the response must not be touched any more. */
  get complete(): boolean {
    return this.#state === "complete";
  }

  /**
   * Resolves with true when the socket took the chunk, false when the client has disconnected. One
   * call at a time.
   */
  async write(chunk: Uint8Array): Promise<boolean> {
    if (this.#state !== "open") return false;
    const from = this.#res.getWriteOffset();
    if (from + chunk.byteLength > this.#length) {
      throw new Error("The source gave more bytes than it announced.");
    }
    if (this.#offer(chunk)) return true;
    const taken = createDeferred<boolean>();
    this.#waiting = { chunk, from, taken };
    const { stallMs, bytesPerSecond } = this.#pace;
    this.#takenBy = performance.now() + stallMs + (chunk.byteLength / bytesPerSecond) * 1_000;
    this.#watch();
    return taken.promise;
  }

  /** The connection ended. */
  gone(): void {
    if (this.#state === "open") this.#state = "gone";
    this.#settle(false);
  }

  #offer(chunk: Uint8Array): boolean {
    let taken = false;
    let complete = false;
    this.#res.cork(() => {
      [taken, complete] = this.#res.tryEnd(chunk, this.#length);
    });
    if (complete) this.#state = "complete";
    return taken || complete;
  }

  #writable(offset: number): boolean {
    const waiting = this.#waiting;
    if (waiting === undefined) return true;
    const taken = this.#offer(waiting.chunk.subarray(offset - waiting.from));
    if (taken) this.#settle(true);
    else this.#watch();
    return taken;
  }

  #settle(taken: boolean): void {
    clearTimeout(this.#stall);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.taken.resolve(taken);
  }

  #watch(): void {
    clearTimeout(this.#stall);
    const left = Math.max(0, this.#takenBy - performance.now());
    this.#stall = setTimeout(() => this.#res.close(), Math.min(this.#pace.stallMs, left));
  }
}

/**
 * An answer to send. A body of text or bytes needs its own `content-type`; any other body is sent
 * as JSON.
 */
export interface Answer {
  status: number;
  headers?: Readonly<Record<string, string>>;
  body?: unknown;
  /** The serialised body, if it exists already. */
  payload?: string | Uint8Array;
  stream?: BodyStream;
  events?: EventStream;
}

const JSON_TYPE = "application/json; charset=utf-8";

const VERSION = "1.0";
const ALWAYS: Readonly<Record<string, string>> = {
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "X-Frame-Options": "DENY",
  "Cross-Origin-Resource-Policy": "same-origin",
};
const CONTENT_TYPE: Readonly<Record<string, string>> = { "Content-Type": JSON_TYPE };

const UNSAFE = /[\r\n\0]/;

/** The headers of an answer, rendered. */
export interface Head {
  /** The value of `X-API-Version`, followed by the header lines that most answers have. */
  usual: Uint8Array;
  /** The other headers, each with its line break before it. */
  lines: string;
}

export type Payload = string | Uint8Array | undefined;

/** Prepared bytes, because text would be converted for each answer. */
const BARE = Buffer.from(VERSION);
const PLAIN = Buffer.from(VERSION + linesOf(ALWAYS));
const JSON_HEAD = Buffer.from(VERSION + linesOf(ALWAYS) + linesOf(CONTENT_TYPE));

/** Renders headers and body; later sources of a header win, whatever its case. */
export function renderAnswer(
  answer: Answer,
  extra: Readonly<Record<string, string>>,
): { head: Head; payload: Payload } {
  const payload = answer.payload ?? payloadOf(answer);
  return { head: renderHead(answer.headers, extra, payload !== undefined), payload };
}

/** Serialises a body. Throws when it cannot be written as JSON. */
export function payloadOf({ body, headers = {} }: Answer): Payload {
  if (body === undefined || body instanceof Uint8Array) return body;
  if (typeof body === "string" && hasHeader(headers, "content-type")) return body;
  return JSON.stringify(body);
}

function renderHead(
  own: Answer["headers"],
  extra: Readonly<Record<string, string>>,
  json: boolean,
): Head {
  const usual = json ? JSON_HEAD : PLAIN;
  if (own === undefined) return { usual, lines: linesOf(extra) };
  if (!overlaps(own, extra)) return { usual, lines: linesOf(extra) + linesOf(own) };
  const headers = new Map<string, string>();
  for (const source of [ALWAYS, json ? CONTENT_TYPE : {}, extra, own]) {
    for (const name in source) {
      const lower = toLowerCase(name);
      const before = lower === "vary" ? headers.get(lower) : undefined;
      const text = source[name] ?? "";
      // Cache directives of several sources are combined.
      headers.set(lower, before === undefined ? line(name, text) : `${before}, ${text}`);
    }
  }
  return { usual: BARE, lines: [...headers.values()].join("") };
}

/** Caches lower-case names; only this service's header names occur, so its size is bounded. */
const lowerCase = new Map<string, string>();
const USUAL_NAMES = new Set([ALWAYS, CONTENT_TYPE].flatMap(Object.keys).map(toLowerCase));

function overlaps(own: Readonly<Record<string, string>>, extra: Readonly<Record<string, string>>) {
  for (const name in own) {
    const lower = toLowerCase(name);
    if (USUAL_NAMES.has(lower)) return true;
    for (const other in extra) if (toLowerCase(other) === lower) return true;
  }
  return false;
}

function hasHeader(headers: Readonly<Record<string, string>>, name: string): boolean {
  return Object.keys(headers).some((key) => key.toLowerCase() === name);
}

function toLowerCase(name: string): string {
  const known = lowerCase.get(name);
  if (known !== undefined) return known;
  const lower = name.toLowerCase();
  if (lowerCase.size < 1_000) lowerCase.set(name, lower);
  return lower;
}

function linesOf(headers: Readonly<Record<string, string>>): string {
  let lines = "";
  for (const name in headers) lines += line(name, headers[name] ?? "");
  return lines;
}

function line(name: string, value: string): string {
  if (UNSAFE.test(value)) throw new Error(`The header ${name} would hold a line break.`);
  return `\r\n${name}: ${value}`;
}

function statusLine(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? "Unknown"}`;
}

/**
 * Writes status and headers; the caller has corked the response. All headers are passed to
 * uWebSockets.js in two calls, as values that contain the other lines, because each call costs. No
 * header value can contain a line break itself (`line`).
 */
export function writeHead(res: HttpResponse, status: number, id: string, head: Head): void {
  // uWebSockets.js writes 200 by default.
  if (status !== 200) res.writeStatus(statusLine(status));
  res.writeHeader("X-API-Version", head.usual);
  res.writeHeader("X-Request-Id", id + head.lines);
}
