import { promisify } from "node:util";
import { brotliCompress, gzip, constants as zlib } from "node:zlib";
import type { Route } from "../../rest/route.ts";
import { mayAnswerSecrets } from "../../rest/secret-answers.ts";
import { weakTag } from "./preconditions.ts";
import { type Answer, payloadOf } from "./response.ts";

/** Supported codings, in order of preference. */
const CODINGS = ["br", "gzip"] as const;
type Coding = (typeof CODINGS)[number];

/**
 * Matches an item such as `gzip;q=0.5`. An invalid weight counts as 0, since the caller meant to
 * restrict.
 */
const ITEM = /^([\w!#$%&'*+.^`|~-]+)(?:\s*;\s*q\s*=\s*([^;\s]*))?/i;
const WEIGHT = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;
const KNOWN_HEADERS = 100;

const chosen = new Map<string, Coding | undefined>();

/**
 * The best supported coding for an Accept-Encoding header (RFC 9110 §12.5.3). Undefined means that
 * the bytes are sent uncompressed, which is always acceptable.
 */
export function chooseCoding(header: string | undefined): Coding | undefined {
  if (header === undefined || header === "") return undefined;
  // The cache works because clients send only few different headers.
  if (chosen.has(header)) return chosen.get(header);
  const coding = choose(weightsOf(header));
  if (chosen.size < KNOWN_HEADERS) chosen.set(header, coding);
  return coding;
}

function weightsOf(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const text of header.toLowerCase().split(",")) {
    const [, name, weight = "1"] = ITEM.exec(text.trim()) ?? [];
    if (name === undefined) continue;
    weights.set(name === "x-gzip" ? "gzip" : name, WEIGHT.test(weight) ? Number(weight) : 0);
  }
  return weights;
}

function choose(weights: ReadonlyMap<string, number>): Coding | undefined {
  const others = weights.get("*") ?? 0;
  let best: Coding | undefined;
  // When `identity` is not listed, uncompressed bytes are the last choice.
  let weight = weights.get("identity") ?? 0;
  for (const coding of CODINGS) {
    const own = weights.get(coding) ?? others;
    if (own > weight || (own === weight && own > 0 && best === undefined)) {
      best = coding;
      weight = own;
    }
  }
  return best;
}

/** Answers up to this size fit into one packet uncompressed, bytes. */
const SMALL_BYTES = 1024;
const TEXT = /^(?:text\/|application\/(?:json|x-subrip|xml|yaml)\b|[^;]*\+(?:json|xml)\b)/i;

/**
 * Compression effort: `once` is fast, for bytes that are sent once; `kept` is thorough, for bytes
 * that are cached.
 */
type Effort = "once" | "kept";

const asGzip = promisify(gzip);
const asBrotli = promisify(brotliCompress);

/** Runs on the thread pool, so that other requests are not delayed. */
const CODERS: Readonly<Record<Coding, (bytes: Buffer, effort: Effort) => Promise<Buffer>>> = {
  gzip: (bytes, effort) => asGzip(bytes, { level: effort === "kept" ? 9 : 6 }),
  br: (bytes, effort) =>
    asBrotli(bytes, {
      params: {
        [zlib.BROTLI_PARAM_QUALITY]: effort === "kept" ? 9 : 4,
        [zlib.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength,
      },
    }),
};

/** An answer that never changes, in every coding that was requested so far. */
interface Kept {
  body: unknown;
  bytes: Buffer;
  coded: Map<Coding, Promise<Buffer>>;
}

/** Compresses the answers of routes that return no secrets, if the caller accepts it. */
export class Compression {
  readonly #routes: ReadonlySet<Route>;
  readonly #kept = new Map<Route, Kept>();

  constructor(routes: readonly Route[]) {
    this.#routes = new Set(routes.filter((route) => !mayAnswerSecrets(route)));
  }

  /**
   * The answer as this caller gets it; a promise only when it has to be compressed. Never rejects:
   * an answer whose body cannot be serialised is returned unchanged, and sending it reports the
   * error.
   */
  pack(
    answer: Answer,
    route: Route | undefined,
    headers: Readonly<Record<string, string>>,
  ): Answer | Promise<Answer> {
    if (route === undefined || !this.#routes.has(route) || !isText(answer)) return answer;
    const kept = route.constant === true ? this.#keep(route, answer) : undefined;
    const payload = kept?.bytes ?? textOf(answer);
    if (payload === undefined) return answer;
    if (payload.length <= SMALL_BYTES) return { ...answer, payload };
    const plain = { ...answer, payload, headers: { ...answer.headers, Vary: "Accept-Encoding" } };
    const coding = chooseCoding(headers["accept-encoding"]);
    if (coding === undefined) return plain;
    const coded = kept === undefined ? compress(payload, coding) : codeKept(kept, coding);
    return coded.then(
      (bytes) => (bytes.length < payload.length ? packed(plain, coding, bytes) : plain),
      () => plain,
    );
  }

  #keep(route: Route, answer: Answer): Kept | undefined {
    const before = this.#kept.get(route);
    if (before !== undefined && before.body === answer.body) return before;
    const payload = textOf(answer);
    if (payload === undefined) return undefined;
    const kept = { body: answer.body, bytes: Buffer.from(payload), coded: new Map() };
    this.#kept.set(route, kept);
    return kept;
  }
}

function isText({ status, body, stream, headers = {} }: Answer): boolean {
  if (status < 200 || status > 299 || body === undefined || stream !== undefined) return false;
  for (const name in headers) {
    const lower = name.toLowerCase();
    if (lower === "content-type" && !TEXT.test(headers[name] ?? "")) return false;
    if (["content-encoding", "content-range", "set-cookie"].includes(lower)) return false;
  }
  return true;
}

function textOf(answer: Answer): string | Uint8Array | undefined {
  try {
    return payloadOf(answer);
  } catch {
    return undefined;
  }
}

function compress(payload: string | Uint8Array, coding: Coding): Promise<Buffer> {
  return CODERS[coding](Buffer.from(payload), "once");
}

function codeKept({ bytes, coded }: Kept, coding: Coding): Promise<Buffer> {
  const before = coded.get(coding);
  if (before !== undefined) return before;
  const now = CODERS[coding](bytes, "kept");
  coded.set(coding, now);
  return now;
}

function packed(plain: Answer, coding: Coding, payload: Buffer): Answer {
  const headers: Record<string, string> = { "Content-Encoding": coding };
  for (const name in plain.headers) {
    const value = plain.headers[name] ?? "";
    headers[name] = name.toLowerCase() === "etag" ? weakTag(value) : value;
  }
  return { ...plain, headers, payload };
}
