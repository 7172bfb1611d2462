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

/** By lower-case name. */
export type Headers = Map<string, { name: string; value: string }>;

export type Payload = string | Uint8Array | undefined;

/** The headers and bytes of an answer; later sources of a header win, whatever their case. */
export function renderAnswer(
  answer: Answer,
  extra: Readonly<Record<string, string>>,
): { headers: Headers; payload: Payload } {
  const headers: Headers = new Map();
  const own = answer.headers ?? {};
  const raw = typeof answer.body === "string" && hasHeader(own, "content-type");
  const payload =
    raw || answer.body instanceof Uint8Array
      ? (answer.body as string | Uint8Array)
      : answer.body === undefined
        ? undefined
        : JSON.stringify(answer.body);
  const json: Record<string, string> = payload === undefined ? {} : { "Content-Type": JSON_TYPE };
  for (const source of [ALWAYS, json, extra, own]) {
    for (const name in source) setHeader(headers, name, source[name] ?? "");
  }
  return { headers, payload };
}

function hasHeader(headers: Readonly<Record<string, string>>, name: string): boolean {
  return Object.keys(headers).some((key) => key.toLowerCase() === name);
}

/** Of the few names that are ever used; a caller cannot add to them. */
const lowerCase = new Map<string, string>();

function toLowerCase(name: string): string {
  const known = lowerCase.get(name);
  if (known !== undefined) return known;
  const lower = name.toLowerCase();
  if (lowerCase.size < 1_000) lowerCase.set(name, lower);
  return lower;
}

function setHeader(headers: Headers, name: string, value: string): void {
  if (UNSAFE.test(value)) throw new Error(`The header ${name} would hold a line break.`);
  headers.set(toLowerCase(name), { name, value });
}

export function statusLine(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? "Unknown"}`;
}

/**
 * Writes status and headers; the caller has corked the response. They go over to uWebSockets.js as
 * one header whose value holds the others, line breaks and all, since each crossing costs: no
 * value of ours can hold one (`setHeader`).
 */
export function writeHead(res: HttpResponse, status: number, headers: Headers): void {
  res.writeStatus(statusLine(status));
  let first = "";
  let lines = "";
  for (const { name, value } of headers.values()) {
    if (first === "") {
      first = name;
      lines = value;
    } else lines += `\r\n${name}: ${value}`;
  }
  if (first !== "") res.writeHeader(first, lines);
}
