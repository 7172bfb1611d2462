import { describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { startFront } from "../support/front.ts";
import { JSON_HEADERS, post, problem, raw, start, stopAfterEach } from "../support/front-calls.ts";
import { until } from "../support/until.ts";

stopAfterEach();

describe("front http: requests", () => {
  it("answers with the headers that every answer has", async () => {
    const { url } = await start();
    const response = await fetch(`${url}/things?limit=7&deep=true`);
    expect(await response.json()).toMatchObject({ limit: 7, deep: true });
    const { headers } = response;
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(Number(headers.get("ratelimit-remaining"))).toBeGreaterThan(0);
  });

  it("takes the caller's request id when it is valid", async () => {
    const { url } = await start();
    const given = await fetch(`${url}/things`, { headers: { "x-request-id": "a.b_C-1" } });
    expect(given.headers.get("x-request-id")).toBe("a.b_C-1");
    const bad = await fetch(`${url}/things`, { headers: { "x-request-id": "a b" } });
    expect(bad.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    const long = await fetch(`${url}/things`, { headers: { "x-request-id": "a".repeat(129) } });
    expect(long.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("answers unknown paths 404 and wrong methods 405 with Allow", async () => {
    const { front, url } = await start();
    expect((await problem(await fetch(`${url}/nothing`)))[0]).toBe(404);
    expect((await problem(await fetch(`${url}/%zz`)))[0]).toBe(404);
    expect((await problem(await fetch(url.replace("/api", "/elsewhere"))))[0]).toBe(404);
    const wrong = await fetch(`${url}/things`, { method: "DELETE" });
    expect(wrong.headers.get("allow")).toBe("GET, HEAD, OPTIONS, POST");
    expect((await problem(wrong)).slice(0, 2)).toEqual([405, "method_not_allowed"]);
    const trace = raw(front.port, "TRACE /api/things HTTP/1.1\r\nHost: x\r\n\r\n");
    await until(() => trace.text.includes("\r\n\r\n"), "an answer");
    expect(trace.text).toMatch(/^HTTP\/1\.1 405 /);
    trace.socket.destroy();
  });

  it("answers HEAD like GET without a body, and 204 without one", async () => {
    const { url } = await start();
    const head = await fetch(`${url}/things?limit=1`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect(head.headers.get("content-length")).toBe(String('{"limit":1}'.length));
    const gone = await fetch(`${url}/things/${newId()}`, { method: "DELETE" });
    expect([gone.status, await gone.text()]).toEqual([204, ""]);
    expect(gone.headers.get("content-type")).toBeNull();
  });

  it("sends its security headers with every answer, errors and empty ones too", async () => {
    const { url } = await start();
    const answers = await Promise.all([
      fetch(`${url}/things`),
      fetch(`${url}/nothing`),
      fetch(`${url}/broken`),
      fetch(`${url}/things`, { method: "DELETE" }),
      fetch(`${url}/things`, { method: "OPTIONS" }),
      fetch(`${url}/things/${newId()}`, { method: "DELETE" }),
    ]);
    for (const { headers, status } of answers) {
      const policy = headers.get("content-security-policy");
      expect(policy, String(status)).toBe("default-src 'none'; frame-ancestors 'none'");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
    }
  });

  it("lets a caller that expects 100 go on, and refuses a body by its head without it", async () => {
    const { front } = await start({ limits: { jsonBytes: 10 } });
    const expecting = (length: number) =>
      raw(
        front.port,
        `POST /api/things HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`,
      );
    const fitting = expecting(10);
    await until(() => fitting.text.includes("100 Continue"), "the 100");
    fitting.socket.write('{"name":1}');
    await until(() => fitting.text.includes("HTTP/1.1 400"), "the answer");
    const large = expecting(11);
    await until(() => large.text.includes("HTTP/1.1 413"), "the refusal");
    fitting.socket.destroy();
    large.socket.destroy();
  });

  it("checks in this order: 401, 403 by role, 404, 400", async () => {
    const { url } = await start();
    const put = async (path: string, caller: string, body: string): Promise<number> => {
      const headers = { ...JSON_HEADERS, authorization: `Bearer user-${caller}` };
      return (await fetch(`${url}${path}`, { method: "PUT", body, headers })).status;
    };
    const known = `/things/${newId().slice(0, -1)}1`;
    const unknown = `/things/${newId().slice(0, -1)}0`;
    expect(
      (await fetch(`${url}${known}`, { method: "PUT", body: "{", headers: JSON_HEADERS })).status,
    ).toBe(401);
    expect(await put("/things/not-an-id", "bob", "{")).toBe(403);
    expect(await put("/things/not-an-id", "admin", "{")).toBe(404);
    expect(await put(unknown, "admin", "{")).toBe(404);
    expect(await put(known, "admin", "{")).toBe(400);
    expect(await put(known, "admin", '{"name":"x"}')).toBe(200);
  });

  it("never reads a token from the URL", async () => {
    const { url } = await start();
    const response = await fetch(`${url}/things/${newId()}?token=user-bob&access_token=user-bob`);
    expect((await problem(response))[0]).toBe(401);
  });

  it("passes bearers of the route's own kind through, but not their absence", async () => {
    const { url } = await start();
    expect((await problem(await fetch(`${url}/refresh`)))[0]).toBe(401);
    const response = await fetch(`${url}/refresh`, { headers: { authorization: "Bearer r" } });
    expect(await response.json()).toEqual({ principal: "none", authorization: "Bearer r" });
  });

  it("says nothing of the cause of a 500 and survives a header that would split", async () => {
    const { url } = await start();
    const [status, code, message] = await problem(await fetch(`${url}/broken`));
    expect([status, code]).toEqual([500, "internal"]);
    expect(message).not.toContain("secret");
    const split = await fetch(`${url}/split`);
    expect(split.headers.get("x-evil")).toBeNull();
    expect((await problem(split))[0]).toBe(500);
  });

  it("gives a handler a time limit", async () => {
    const { url, echo } = await start({ limits: { handlerTimeoutMs: 50 } });
    expect((await problem(await fetch(`${url}/slow`))).slice(0, 2)).toEqual([503, "timeout"]);
    echo.release();
  });

  it("limits an address and a caller with Retry-After", async () => {
    const { url } = await start({ rates: { read: { perMinute: 1, burst: 2 } } });
    expect((await fetch(`${url}/things`)).status).toBe(200);
    expect((await fetch(`${url}/things`)).headers.get("ratelimit-remaining")).toBe("0");
    const third = await fetch(`${url}/things`);
    expect(Number(third.headers.get("retry-after"))).toBeGreaterThan(30);
    expect((await problem(third)).slice(0, 2)).toEqual([429, "rate_limited"]);
  });

  it("answers browsers of configured origins only", async () => {
    const { url } = await start({ allowedOrigins: ["https://app.example"] });
    const ask = (origin: string) =>
      fetch(`${url}/things`, {
        method: "OPTIONS",
        headers: { origin, "access-control-request-method": "POST" },
      });
    const allowed = await ask("https://app.example");
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get("access-control-allow-origin")).toBe("https://app.example");
    expect(allowed.headers.get("access-control-allow-methods")).toContain("POST");
    const wanted = "Authorization, Content-Type, Idempotency-Key, If-Match, Range, X-API-Key";
    const taken = allowed.headers.get("access-control-allow-headers")?.split(", ");
    expect(taken).toEqual(expect.arrayContaining(wanted.split(", ")));
    const get = await fetch(`${url}/things`, { headers: { origin: "https://app.example" } });
    const shown = get.headers.get("access-control-expose-headers")?.split(", ");
    const useful = "ETag, X-Request-Id, X-Error-Code, RateLimit-Limit, Location, Content-Range";
    expect(shown).toEqual(expect.arrayContaining(useful.split(", ")));
    const other = await ask("https://evil.example");
    expect(other.headers.get("access-control-allow-origin")).toBeNull();
  });
});

describe("front http: bodies", () => {
  it("names the member that is wrong and what was expected", async () => {
    const { url } = await start();
    const say = async (body: string) => (await problem(await post(`${url}/things`, body)))[2];
    expect(await say("{}")).toBe('"name" is required.');
    expect(await say('{"name":1}')).toBe('"name" must be a string.');
    expect(await say('{"name":""}')).toBe('"name" must have at least 1 character.');
    expect(await say('{"name":"x","count":"3"}')).toBe('"count" must be a whole number.');
    expect(await say('{"name":"x","kind":"c"}')).toBe('"kind" must be one of "a", "b", not "c".');
    expect(await say("[]")).toBe("The request body must be an object.");
    expect(await say('{"name":')).toMatch(/^The request body is not valid JSON/);
    expect(await say("")).toBe("This needs a JSON body.");
    const limit = await problem(await fetch(`${url}/things?limit=101`));
    expect(limit).toEqual([400, "invalid_parameter", '"limit" must be <= 100.']);
    expect((await fetch(`${url}/things?limit=1&limit=2`)).status).toBe(400);
    expect((await fetch(`${url}/things?limit=1e400`)).status).toBe(400);
  });

  it("refuses characters that no store can hold, in bodies, queries and paths", async () => {
    const { url } = await start();
    for (const odd of ["\\u0000", "a\\uD800b", "\\udfff"]) {
      const refused = await problem(await post(`${url}/things`, `{"name":"${odd}"}`));
      expect(refused.slice(0, 2)).toEqual([400, "invalid_json"]);
    }
    const nested = `{"name":"a","more":[{"\\u0000":1}]}`;
    expect((await post(`${url}/things`, nested)).status).toBe(400);
    const fine = await post(`${url}/things`, '{"name":"\\ud83d\\ude00 \\\\u0000"}');
    expect(await fine.json()).toEqual({ name: "😀 \\u0000" });
    expect((await fetch(`${url}/things?limit=1&x=%00`)).status).toBe(400);
    const bearer = { headers: { authorization: "Bearer user-bob" } };
    expect((await fetch(`${url}/things/%00`, bearer)).status).toBe(404);
  });

  it("ignores unknown members and takes odd names as plain data", async () => {
    const { url } = await start();
    const body = '{"name":"x","__proto__":{"polluted":1},"constructor":1}';
    expect((await post(`${url}/things`, body)).status).toBe(200);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it("names in a Warning the members of a body that it ignores", async () => {
    const { url } = await start();
    const warningOf = async (body: string) =>
      (await post(`${url}/things`, body)).headers.get("warning");
    expect(await warningOf('{"name":"x","nmae":"y","tit\\nle":1}')).toBe(
      '299 - "without effect here: nmae, tit?le"',
    );
    expect(await warningOf('{"name":"x","count":1}')).toBeNull();
    expect(await warningOf('{"name":"x","toString":1}')).toContain("toString");
  });

  it("refuses other kinds of bodies: 415, and bytes that are not UTF-8: 400", async () => {
    const { url } = await start();
    const send = async (type: string, extra = {}) =>
      (await post(`${url}/things`, "{}", { "content-type": type, ...extra })).status;
    expect(await send("text/plain")).toBe(415);
    expect(await send("application/json; charset=utf-16")).toBe(415);
    expect(await send("application/json", { "content-encoding": "gzip" })).toBe(415);
    expect(await send("application/merge-patch+json; charset=UTF-8")).toBe(400);
    const bytes = Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    expect((await problem(await post(`${url}/things`, bytes)))[1]).toBe("invalid_json");
  });

  it("takes a body of exactly the limit and refuses one byte more, also without a length", async () => {
    const { url, echo } = await start({ limits: { jsonBytes: 1000 } });
    const fill = (size: number) => JSON.stringify({ name: "x".repeat(size - 11) });
    const stream = (text: string) => new Response(text).body as ReadableStream;
    expect(fill(1000).length).toBe(1000);
    expect((await post(`${url}/things`, fill(1000))).status).toBe(200);
    expect((await post(`${url}/things`, stream(fill(1000)))).status).toBe(200);
    expect((await problem(await post(`${url}/things`, fill(1001)))).slice(0, 2)).toEqual([
      413,
      "payload_too_large",
    ]);
    expect((await problem(await post(`${url}/things`, stream(fill(1001)))))[0]).toBe(413);
    expect(echo.seen.get("makeThing")?.length).toBe(2);
  });

  it("keeps deeply nested JSON, and JSON of very many values, from doing harm", async () => {
    const { url } = await start();
    const deep = await problem(await post(`${url}/things`, "[".repeat(900_000)));
    expect(deep[2]).toBe("The JSON nests deeper than 64 levels.");
    const many = await problem(await post(`${url}/things`, `[${"0,".repeat(20_000)}0]`));
    expect(many[2]).toBe("The JSON holds more than 20000 values.");
    expect((await post(`${url}/things`, '{"name":"[[\\"[["}')).status).toBe(200);
    expect((await fetch(`${url}/things`)).status).toBe(200);
  });

  it("gives a body that does not come a time limit", async () => {
    const { front, echo } = await start({ limits: { anonymousTimeoutMs: 100 } });
    const head =
      "POST /api/things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{";
    const caller = raw(front.port, head);
    await until(() => caller.text.includes("408 Request Timeout"), "an answer");
    await until(() => caller.closed, "the end of the connection");
    expect(echo.seen.get("makeThing")).toBeUndefined();
  });

  it("does not call the handler for a body that is cut off", async () => {
    const { front, url, echo } = await start();
    const head =
      "POST /api/things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n";
    const cut = raw(front.port, `${head}{"name":`);
    await new Promise<void>((resolve) => cut.socket.end(resolve));
    await until(() => cut.closed, "the close");
    expect((await fetch(`${url}/things`)).status).toBe(200);
    expect(echo.seen.get("makeThing")).toBeUndefined();
  });

  it("tells a handler when its caller goes away", async () => {
    const { front, echo } = await start();
    const caller = raw(front.port, "GET /api/slow HTTP/1.1\r\nHost: x\r\n\r\n");
    await until(() => echo.seen.get("slow") !== undefined, "the handler");
    caller.socket.destroy();
    await until(() => echo.seen.get("slow")?.[0]?.signal.aborted === true, "the abort");
    echo.release();
    await front.server.drain();
  });
});

describe("front http: life", () => {
  it("says clearly that a port is taken", async () => {
    const { front } = await start();
    await expect(startFront({ routes: [], port: front.port })).rejects.toThrow(/port is taken/);
  });

  it("drains: refuses the new, finishes what is in flight", async () => {
    const { front, url, echo } = await start();
    const slow = fetch(`${url}/slow`);
    await until(() => echo.seen.get("slow") !== undefined, "the handler");
    let drained = false;
    const drain = front.server.drain().then(() => {
      drained = true;
    });
    await expect(fetch(`${url}/things`, { headers: { connection: "close" } })).rejects.toThrow();
    expect(drained).toBe(false);
    echo.release();
    expect(await (await slow).json()).toEqual({ slow: true });
    await drain;
  });

  it("drains: serves on for a while, and keeps no connection", async () => {
    const { front, url } = await start();
    const drain = front.server.drain(1_000);
    const caller = raw(front.port, "GET /api/things HTTP/1.1\r\nHost: x\r\n\r\n");
    await until(() => caller.closed, "the close");
    expect(caller.text).toMatch(/^HTTP\/1\.1 200 /);
    expect(caller.text.match(/connection: close/gi)).toHaveLength(1);
    await drain;
    await expect(fetch(`${url}/things`)).rejects.toThrow();
  });

  it("survives callers that vanish at any moment", async () => {
    const { front, url } = await start();
    const request = Buffer.from(
      `POST /api/things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{"name":"x"}`,
    );
    const callers = Array.from({ length: 200 }, (_, index) =>
      raw(front.port, request.subarray(0, 1 + ((index * 7) % request.length))),
    );
    for (const [index, { socket }] of callers.entries()) {
      if (index % 2 === 0) socket.resetAndDestroy();
      else socket.destroy();
    }
    expect((await fetch(`${url}/things`)).status).toBe(200);
  });
});
