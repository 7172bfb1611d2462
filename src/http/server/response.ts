import type { HttpResponse } from "uWebSockets.js";
import { STATUS_CODES } from "node:http";
import { createDeferred, type Deferred } from "../../base/deferred.ts";
import type { BodyStream } from "../../rest/route.ts";

/** What the writer needs of a response; `close` must lead to `gone`. */
type WritableResponse = Pick<
  HttpResponse,
  "cork" | "tryEnd" | "onWritable" | "getWriteOffset" | "close"
>;

interface Waiting {
  chunk: Uint8Array;
  /** Offset of the chunk's first byte in the body. */
  from: number;
  taken: Deferred<boolean>;
}

/**
 * Writes a body of known length at the client's pace: one piece at a time, the
 * next one only when the socket took the last. A client that takes nothing for
 * `stallMs` loses its connection.
 */
export class BodyWriter {
  readonly #res: WritableResponse;
  readonly #length: number;
  readonly #stallMs: number;
  #waiting: Waiting | undefined;
  #stall: NodeJS.Timeout | undefined;
  #state: "open" | "complete" | "gone" = "open";

  constructor(res: WritableResponse, length: number, stallMs: number) {
    this.#res = res;
    this.#length = length;
    this.#stallMs = stallMs;
    res.onWritable((offset) => this.#writable(offset));
  }

  /** The last byte was handed over; the response must not be touched any more. */
  get complete(): boolean {
    return this.#state === "complete";
  }

  /** Resolves when the socket took the chunk: false when the client is gone. One at a time. */
  async write(chunk: Uint8Array): Promise<boolean> {
    if (this.#state !== "open") return false;
    const from = this.#res.getWriteOffset();
    if (from + chunk.byteLength > this.#length) {
      throw new Error("The source gave more bytes than it announced.");
    }
    if (this.#offer(chunk)) return true;
    const taken = createDeferred<boolean>();
    this.#waiting = { chunk, from, taken };
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
    this.#stall = setTimeout(() => this.#res.close(), this.#stallMs);
  }
}

/** What is sent back. A string or bytes body needs its own `content-type`; anything else is JSON. */
export interface Answer {
  status: number;
  headers?: Readonly<Record<string, string>>;
  body?: unknown;
  /** The body's bytes or text, where they were made already. */
  payload?: string | Uint8Array;
  stream?: BodyStream;
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

/** The headers of an answer. */
export interface Head {
  /** Value of `X-API-Version`, and the lines of what most answers have. */
  usual: Uint8Array;
  /** The other headers, each with its line break before it. */
  lines: string;
}

export type Payload = string | Uint8Array | undefined;

/** Ready bytes, since text is turned into them for each answer. */
const BARE = Buffer.from(VERSION);
const PLAIN = Buffer.from(VERSION + linesOf(ALWAYS));
const JSON_HEAD = Buffer.from(VERSION + linesOf(ALWAYS) + linesOf(CONTENT_TYPE));

/** The headers and bytes of an answer; later sources of a header win, whatever their case. */
export function renderAnswer(
  answer: Answer,
  extra: Readonly<Record<string, string>>,
): { head: Head; payload: Payload } {
  const payload = answer.payload ?? payloadOf(answer);
  return { head: renderHead(answer.headers, extra, payload !== undefined), payload };
}

/** What a body is sent as. Throws when it cannot be written as JSON. */
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
      // What one source says of the cache does not undo what another says.
      headers.set(lower, before === undefined ? line(name, text) : `${before}, ${text}`);
    }
  }
  return { usual: BARE, lines: [...headers.values()].join("") };
}

/** Of the few names that are ever used; a caller cannot add to them. */
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
 * Writes status and headers; the caller has corked the response. They go over to uWebSockets.js as
 * two headers whose values hold the others, line breaks and all, since each crossing costs: no
 * value of ours can hold one (`line`).
 */
export function writeHead(res: HttpResponse, status: number, id: string, head: Head): void {
  // 200 is what it writes by itself.
  if (status !== 200) res.writeStatus(statusLine(status));
  res.writeHeader("X-API-Version", head.usual);
  res.writeHeader("X-Request-Id", id + head.lines);
}
