import { isUtf8 } from "node:buffer";
import { AppError } from "../../base/errors.ts";
import type { Exchange } from "./exchange.ts";

/** Thrown inside when the caller left; nobody is there to read an answer. */
export class CallerGone extends Error {
  constructor() {
    super("The caller went away.");
    this.name = "CallerGone";
  }
}

export function tooLarge(limit: number): AppError {
  return new AppError("payload_too_large", `The request body is larger than ${limit} bytes.`);
}

/** The whole body in memory. Rejects with 413 as soon as it passes `limit`, or `timeout` after `ms`. */
export function readBytes(exchange: Exchange, limit: number, ms: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => reject(bodyLate(ms)), ms);
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      act();
    };
    exchange.readBody({
      data(chunk) {
        size += chunk.byteLength;
        if (size <= limit) chunks.push(chunk);
        else settle(() => reject(tooLarge(limit)));
      },
      end: () => settle(() => resolve(joined(chunks))),
      gone: () => settle(() => reject(new CallerGone())),
    });
  });
}

/** Most bodies come in one piece. */
function joined(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks;
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
}

export function bodyLate(ms: number): AppError {
  return new AppError("timeout", `The request body did not arrive within ${ms / 1000} s.`);
}

/** Deeper than anything that is meant; parsing costs much more with depth than with length. */
const MAX_DEPTH = 64;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** True when brackets outside strings nest too deep; looks at each byte once. */
function isTooDeep(bytes: Buffer): boolean {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (quoted && byte === BACKSLASH) at += 1;
    else if (byte === QUOTE) quoted = !quoted;
    else if (quoted) continue;
    else if (byte === 0x5b || byte === 0x7b) depth += 1;
    else if (byte === 0x5d || byte === 0x7d) depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

/** Parses UTF-8 JSON; throws `invalid_json` with a sentence that says what is wrong. */
export function parseJson(bytes: Buffer): unknown {
  if (isTooDeep(bytes)) {
    throw new AppError("invalid_json", `The JSON nests deeper than ${MAX_DEPTH} levels.`);
  }
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
  // Only an escape can bring one in, so that most bodies are not walked.
  if (ESCAPED.test(text) && !isStorable(value)) {
    throw new AppError(
      "invalid_json",
      "The JSON holds a character that no text may hold: U+0000 or half a surrogate pair.",
    );
  }
  return value;
}

/** A byte order mark, which is no part of the text. */
function startsWithMark(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

const ESCAPED = /\\u(?:0000|d[89a-f])/i;
const UNSTORABLE = /[\0\p{Cs}]/u;

/** PostgreSQL holds neither U+0000 nor half a surrogate pair, in text or in jsonb. */
export function isStorable(value: unknown): boolean {
  if (typeof value === "string") return !UNSTORABLE.test(value);
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([name, member]) => isStorable(name) && isStorable(member));
}

/** Where the parser stopped, without quoting what the caller sent. */
function place(error: unknown): string {
  const message = error instanceof Error ? error.message : "";
  const at = /position (\d+)/.exec(message)?.[1];
  if (at !== undefined) return ` (at character ${Number(at) + 1})`;
  return message.includes("end of JSON") ? " (it ends too early)" : "";
}
