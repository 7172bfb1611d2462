import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { echoRoutes } from "../support/echo-routes.ts";
import { startFront, type TestFront, type TestFrontOptions } from "../support/front.ts";
import { until } from "../support/until.ts";

const JSON_TYPE = "Content-Type: application/json";
const LARGE = 2 * 1024 * 1024;

interface Refusal {
  status: number;
  code: string;
  /** The request line, and headers besides Host and X-Request-Id. */
  head: readonly [string, ...string[]];
  body?: string;
  /** The connection ends with the answer. */
  closes?: boolean;
  options?: Omit<TestFrontOptions, "routes">;
  before?: (front: TestFront) => unknown;
}

const UPGRADE = [
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
];
const BEARER = "Authorization: Bearer user-bob";
const NO_ADDRESS = { rates: { address: { perMinute: 1, burst: 0 } } };
const SLOW = {
  limits: { pace: { firstByteMs: 50, graceMs: 50, bytesPerSecond: 1, heldMs: 60_000 } },
};
const drain = (front: TestFront) => void front.server.drain(60_000);
const [live, post] = ["GET /api/live HTTP/1.1", "POST /api/things HTTP/1.1"];

const REFUSALS: Readonly<Record<string, Refusal>> = {
  "an ambiguous end": {
    ...{ status: 400, code: "bad_request", closes: true },
    head: [post, JSON_TYPE, "Content-Length: 2", "Content-Length: 2"],
    body: "{}",
  },
  "a body that is no JSON": {
    ...{ status: 400, code: "invalid_json" },
    head: [post, JSON_TYPE, "Content-Length: 1"],
    body: "{",
  },
  "an unknown caller": {
    ...{ status: 401, code: "unauthorized" },
    head: ["GET /api/things/1 HTTP/1.1"],
  },
  "an unknown caller with a large body": {
    ...{ status: 401, code: "unauthorized", closes: true },
    head: ["PUT /api/things/1 HTTP/1.1", JSON_TYPE, `Content-Length: ${LARGE}`],
    options: { limits: { jsonBytes: LARGE } },
  },
  "a role that may not": {
    ...{ status: 403, code: "forbidden" },
    head: ["PUT /api/things/1 HTTP/1.1", BEARER, JSON_TYPE, "Content-Length: 2"],
    body: "{}",
  },
  "nothing outside of the API": {
    ...{ status: 404, code: "not_found" },
    head: ["GET /nothing HTTP/1.1"],
  },
  "nothing in the API": {
    ...{ status: 404, code: "not_found" },
    head: ["GET /api/nothing HTTP/1.1"],
  },
  "nothing there, with a body": {
    ...{ status: 404, code: "not_found" },
    head: ["POST /api/nothing HTTP/1.1", "Content-Length: 2"],
    body: "{}",
  },
  "nothing there, with a large body": {
    ...{ status: 404, code: "not_found", closes: true },
    head: ["POST /api/nothing HTTP/1.1", `Content-Length: ${LARGE}`],
  },
  "nothing there, for HEAD": {
    ...{ status: 404, code: "not_found" },
    head: ["HEAD /api/nothing HTTP/1.1"],
  },
  "another method": {
    ...{ status: 405, code: "method_not_allowed" },
    head: ["PATCH /api/things HTTP/1.1"],
  },
  "another method at the first address": {
    ...{ status: 405, code: "method_not_allowed" },
    head: ["DELETE / HTTP/1.1"],
  },
  "a method that nobody knows": {
    ...{ status: 405, code: "method_not_allowed" },
    head: ["BREW /api/things HTTP/1.1"],
  },
  "a body that does not come": {
    ...{ status: 408, code: "body_timeout", closes: true, options: SLOW },
    head: [post, JSON_TYPE, "Content-Length: 12"],
  },
  "a body that is too large by its head": {
    ...{ status: 413, code: "payload_too_large", closes: true },
    head: [post, JSON_TYPE, `Content-Length: ${LARGE}`],
  },
  "a body that grows too large": {
    ...{ status: 413, code: "payload_too_large", closes: true },
    head: [post, JSON_TYPE, "Transfer-Encoding: chunked"],
    body: `40\r\n${"x".repeat(0x40)}\r\n`,
    options: { limits: { jsonBytes: 16 } },
  },
  "another media type": {
    ...{ status: 415, code: "unsupported_media_type" },
    head: [post, "Content-Type: text/plain", "Content-Length: 2"],
    body: "{}",
  },
  "an address that asks too often": {
    ...{ status: 429, code: "rate_limited", options: NO_ADDRESS },
    head: ["GET /api/things HTTP/1.1"],
  },
  "an address that asks too often, with a large body": {
    ...{ status: 429, code: "rate_limited", closes: true, options: NO_ADDRESS },
    head: [post, JSON_TYPE, `Content-Length: ${LARGE}`],
  },
  "a caller who asks too often": {
    ...{ status: 429, code: "rate_limited" },
    head: ["GET /api/things HTTP/1.1"],
    options: { rates: { read: { perMinute: 1, burst: 0 } } },
  },
  "a front without a place": {
    ...{ status: 503, code: "overloaded" },
    head: ["GET /api/things HTTP/1.1"],
    options: { limits: { concurrentRequests: 0 } },
  },
  "a front without a place, with a large body": {
    ...{ status: 503, code: "overloaded", closes: true },
    head: [post, JSON_TYPE, `Content-Length: ${LARGE}`],
    options: { limits: { concurrentRequests: 0 } },
  },
  "a socket of an unknown caller": {
    ...{ status: 401, code: "unauthorized", closes: true },
    head: [live, ...UPGRADE],
  },
  "a socket with a body": {
    ...{ status: 400, code: "bad_request", closes: true },
    head: [live, ...UPGRADE, BEARER, "Content-Length: 2"],
    body: "{}",
  },
  "a socket of another origin": {
    ...{ status: 403, code: "forbidden", closes: true },
    head: [live, ...UPGRADE, BEARER, "Origin: https://elsewhere.test"],
  },
  "a socket nowhere": {
    ...{ status: 404, code: "not_found" },
    head: ["GET /api/nothing HTTP/1.1", ...UPGRADE],
  },
  "a socket of an address that asks too often": {
    ...{ status: 429, code: "rate_limited", closes: true, options: NO_ADDRESS },
    head: [live, ...UPGRADE, BEARER],
  },
  "a socket too many": {
    ...{ status: 503, code: "overloaded", closes: true },
    head: [live, ...UPGRADE, BEARER],
    options: { liveLimits: { sockets: 0 } },
  },
  "a socket at a front that leaves": {
    ...{ status: 503, code: "unavailable", closes: true, before: drain },
    head: [live, ...UPGRADE, BEARER],
  },
};

/** All that every refusal says, by lower-case name. */
const COMMON: Readonly<Record<string, string>> = {
  "x-api-version": "1.0",
  "x-request-id": "refused.1",
  "content-type": "application/json; charset=utf-8",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  "cross-origin-resource-policy": "same-origin",
};
/** Where an address stands with its budget: of all refusals but those before it is counted. */
const BUDGET = ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"];
/** What some refusals say besides, by status. */
const OWN: Readonly<Record<number, readonly string[]>> = {
  401: ["www-authenticate"],
  405: ["allow"],
  429: ["retry-after"],
  503: ["retry-after"],
};

let front: TestFront | undefined;
afterEach(() => front?.stop());

describe("refusals", () => {
  it.each(Object.entries(REFUSALS))("%s: framed as all others", async (_, refusal) => {
    front = await startFront({ ...refusal.options, routes: echoRoutes().routes });
    await refusal.before?.(front);
    const connection = new Connection(front.port);
    const [line, ...headers] = refusal.head;
    const head = [line, "Host: a", "X-Request-Id: refused.1", ...headers, "", ""].join("\r\n");
    connection.send(head + (refusal.body ?? ""));
    const answer = await connection.answer(line.startsWith("HEAD"));

    expect(answer.status).toBe(refusal.status);
    expect(answer.headers).toMatchObject({ ...COMMON, "x-error-code": refusal.code });
    const more = [...(OWN[refusal.status] ?? []), ...(refusal.status === 503 ? [] : BUDGET)];
    expect(Object.keys(answer.headers)).toEqual(
      expect.arrayContaining([...more, "content-length"]),
    );
    expect(answer.repeated).toEqual([]);
    if (!line.startsWith("HEAD")) {
      const body = JSON.parse(answer.body);
      expect(body).toEqual({ success: false, message: expect.stringMatching(/\S/) });
    }
    expect(answer.headers.connection).toBe(refusal.closes ? "close" : undefined);
    if (refusal.closes) await connection.closed();
    else await connection.servesAnother();
    connection.end();
  });
});

/** A connection on which the bytes are seen as they come. */
class Connection {
  readonly #socket;
  #text = "";
  #isClosed = false;

  constructor(port: number) {
    this.#socket = connect(port, "127.0.0.1");
    this.#socket.on("data", (data) => {
      this.#text += data.toString("latin1");
    });
    this.#socket.on("error", () => {});
    this.#socket.on("close", () => {
      this.#isClosed = true;
    });
  }

  send(text: string): void {
    this.#socket.write(text, "latin1");
  }

  /** Takes the next answer, with as many bytes of a body as it announces. */
  async answer(isHead: boolean) {
    await until(() => this.#text.includes("\r\n\r\n"), "the head of an answer");
    const end = this.#text.indexOf("\r\n\r\n");
    const [first = "", ...lines] = this.#text.slice(0, end).split("\r\n");
    const pairs = lines.map((line): [string, string] => {
      const colon = line.indexOf(": ");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 2)];
    });
    const names = pairs.map(([name]) => name);
    const headers: Record<string, string> = Object.fromEntries(pairs);
    const length = isHead ? 0 : Number(headers["content-length"]);
    await until(() => this.#text.length >= end + 4 + length, "the body that was announced");
    const body = this.#text.slice(end + 4, end + 4 + length);
    this.#text = this.#text.slice(end + 4 + length);
    const repeated = names.filter((name, at) => names.indexOf(name) !== at);
    return { status: Number(first.split(" ")[1]), headers, repeated, body };
  }

  /** Nothing came after the answer, and the service ended the connection. */
  async closed(): Promise<void> {
    await until(() => this.#isClosed, "the end of the connection");
    expect(this.#text).toBe("");
  }

  /** The next answer begins where the last one ended. */
  async servesAnother(): Promise<void> {
    this.send("GET /api/nothing HTTP/1.1\r\nHost: a\r\nX-Request-Id: next\r\n\r\n");
    expect((await this.answer(false)).headers["x-request-id"]).toBe("next");
  }

  end(): void {
    this.#socket.destroy();
  }
}
