import type { HttpResponse } from "uWebSockets.js";
import { STATUS_CODES } from "node:http";
import type { BodyStream } from "../api/route.ts";

/** What is sent back. A string or bytes body needs its own `content-type`; anything else is JSON. */
export interface Answer {
  status: number;
  headers?: Readonly<Record<string, string>>;
  body?: unknown;
  stream?: BodyStream;
}

const JSON_TYPE = "application/json; charset=utf-8";

const ALWAYS: Readonly<Record<string, string>> = {
  "X-API-Version": "1.0",
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "X-Frame-Options": "DENY",
  "Cross-Origin-Resource-Policy": "same-origin",
};

const UNSAFE = /[\r\n\0]/;

export type Payload = string | Uint8Array | undefined;

/** The headers and bytes of an answer; later sources of a header win, whatever their case. */
export function renderAnswer(
  answer: Answer,
  extra: Readonly<Record<string, string>>,
): { headers: Map<string, string>; payload: Payload } {
  const headers = new Map<string, string>();
  const own = answer.headers ?? {};
  const raw = typeof answer.body === "string" && hasHeader(own, "content-type");
  const payload =
    raw || answer.body instanceof Uint8Array
      ? (answer.body as string | Uint8Array)
      : answer.body === undefined
        ? undefined
        : JSON.stringify(answer.body);
  const json = payload === undefined ? {} : { "Content-Type": JSON_TYPE };
  for (const source of [ALWAYS, json, extra, own]) {
    for (const [name, value] of Object.entries(source)) setHeader(headers, name, value);
  }
  return { headers, payload };
}

function hasHeader(headers: Readonly<Record<string, string>>, name: string): boolean {
  return Object.keys(headers).some((key) => key.toLowerCase() === name);
}

function setHeader(headers: Map<string, string>, name: string, value: string): void {
  if (UNSAFE.test(value)) throw new Error(`The header ${name} would hold a line break.`);
  for (const key of headers.keys()) {
    if (key.toLowerCase() === name.toLowerCase()) headers.delete(key);
  }
  headers.set(name, value);
}

export function statusLine(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? "Unknown"}`;
}

/** Writes status and headers; the caller has corked the response. */
export function writeHead(res: HttpResponse, status: number, headers: Map<string, string>): void {
  res.writeStatus(statusLine(status));
  for (const [name, value] of headers) res.writeHeader(name, value);
}
