import { connect } from "node:net";
import { Type } from "@sinclair/typebox";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { defineRoute } from "../../src/rest/route.ts";
import { echoRoutes } from "../support/echo-routes.ts";
import { startFront, type TestFront } from "../support/front.ts";
import { Nginx } from "../support/nginx.ts";
import { until } from "../support/until.ts";

/** The request that must not be served: its answer is known by its request id. */
const SECOND =
  "GET /api/things?limit=7 HTTP/1.1\r\nHost: a\r\nX-Request-Id: smuggled\r\nConnection: close\r\n\r\n";
const JSON_TYPE = "Content-Type: application/json\r\n";
const BODY = '{"name":"x"}';
const CHUNKED = `c\r\n${BODY}\r\n0\r\n\r\n`;

const post = (headers: string, body = BODY) =>
  `POST /api/things HTTP/1.1\r\nHost: a\r\n${JSON_TYPE}${headers}\r\n${body}`;
const get = (headers: string) => `GET /api/things HTTP/1.1\r\n${headers}\r\n`;
/** A route whose answer is constant. */
const alive = (headers: string) => `GET /api/alive HTTP/1.1\r\n${headers}\r\n`;
const upgrade = (headers: string) =>
  `GET /api/live HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nAuthorization: Bearer user-bob\r\n${headers}\r\n`;

/** Requests whose end two readers may see in different places, or that name two hosts. */
const AMBIGUOUS: Readonly<Record<string, string>> = {
  "two lengths": post("Content-Length: 12\r\nContent-Length: 60\r\n"),
  "the same length twice": post("Content-Length: 12\r\nContent-Length: 12\r\n"),
  "an empty and a real length": post("Content-Length:\r\nContent-Length: 12\r\n"),
  "an empty length": post("Content-Length:\r\n", ""),
  "a list of lengths": post("Content-Length: 12, 12\r\n"),
  "a hexadecimal length": post("Content-Length: 0xc\r\n"),
  "a signed length": post("Content-Length: +12\r\n"),
  "a negative length": post("Content-Length: -12\r\n"),
  "a decimal fraction": post("Content-Length: 12.0\r\n"),
  "an exponent": post("Content-Length: 12e0\r\n"),
  "an endless length": post("Content-Length: 18446744073709551628\r\n"),
  "a length and chunks": post("Content-Length: 12\r\nTransfer-Encoding: chunked\r\n", CHUNKED),
  "chunks and a length": post("Transfer-Encoding: chunked\r\nContent-Length: 12\r\n", CHUNKED),
  "no length and chunks": post("Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", CHUNKED),
  "two transfer codings": post(
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
    CHUNKED,
  ),
  "a list of codings": post("Transfer-Encoding: gzip, chunked\r\n", CHUNKED),
  "an unknown coding": post("Transfer-Encoding: xchunked\r\n", CHUNKED),
  "the coding identity": post("Transfer-Encoding: identity\r\n", CHUNKED),
  "an empty coding": post("Transfer-Encoding:\r\n", CHUNKED),
  "white space before the colon": post("Content-Length : 12\r\n"),
  "a folded header": post("Transfer-Encoding:\r\n chunked\r\n", CHUNKED),
  "a bare line feed": post("X-Odd: a\nContent-Length: 12\r\n"),
  "a bare carriage return": post("X-Odd: a\rContent-Length: 12\r\n"),
  "a NUL": post("X-Odd: a\0b\r\nContent-Length: 12\r\n"),
  "a header without a colon": post("Content-Length 12\r\n"),
  "lines that end without a carriage return": "GET /api/things HTTP/1.1\nHost: a\n\n",
  "chunks that end in a line feed": post(
    "Transfer-Encoding: chunked\r\n",
    `c\n${BODY}\r\n0\r\n\r\n`,
  ),
  "a chunk that is longer than it says": post(
    "Transfer-Encoding: chunked\r\n",
    `c\r\n${BODY}XX0\r\n\r\n`,
  ),
  "a chunk size in another notation": post(
    "Transfer-Encoding: chunked\r\n",
    `0xc\r\n${BODY}\r\n0\r\n\r\n`,
  ),
  "a trailer": post("Transfer-Encoding: chunked\r\n", `c\r\n${BODY}\r\n0\r\nX-Odd: a\r\n\r\n`),
  "a header without a name": get("Host: a\r\n: x\r\n"),
  "a header without a name before a length": post(": x\r\nContent-Length: 12\r\n"),
  "a header without a name before chunks": post(": x\r\nTransfer-Encoding: chunked\r\n", CHUNKED),
  "a header without name and value": get("Host: a\r\n:\r\n"),
  "two hosts": get("Host: a\r\nHost: b\r\n"),
  "an empty host": get("Host:\r\n"),
  "no host": get("Accept: */*\r\n"),
  "HTTP 1.0": "GET /api/things HTTP/1.0\r\nHost: a\r\n\r\n",
  "a constant answer, two hosts": alive("Host: a\r\nHost: b\r\n"),
  "a constant answer, an empty host": alive("Host:\r\n"),
  "a constant answer, an empty length": alive("Host: a\r\nContent-Length:\r\n"),
  "a constant answer, an empty and a real length": alive(
    `Host: a\r\nContent-Length:\r\nContent-Length: ${SECOND.length}\r\n`,
  ),
  "a constant answer, an empty coding": alive("Host: a\r\nTransfer-Encoding:\r\n"),
  "a constant answer, a header without a name": alive(
    `Host: a\r\n: x\r\nContent-Length: ${SECOND.length}\r\n`,
  ),
  "an upgrade with two hosts": upgrade("Host: a\r\nHost: b\r\n"),
  "an upgrade with a body": upgrade("Host: a\r\nContent-Length: 12\r\n"),
  "an upgrade in chunks": upgrade("Host: a\r\nTransfer-Encoding: chunked\r\n"),
};

const ALIVE = defineRoute({
  tag: "Health",
  auth: [],
  errors: [],
  method: "get",
  path: "/alive",
  id: "getAlive",
  summary: "Whether it runs",
  ready: { status: 200, body: { status: "ok" } },
  responses: { 200: { description: "It runs.", schema: Type.Unknown() } },
  handle: async () => ({ status: 200, body: { status: "ok" } }),
});

/** All that comes for these bytes until the connection ends, and whether it did. */
async function exchange(port: number, bytes: string): Promise<{ text: string; closed: boolean }> {
  const socket = connect(port, "127.0.0.1");
  const state = { text: "", closed: false };
  socket.on("data", (data) => {
    state.text += data.toString("latin1");
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    state.closed = true;
  });
  // Not ended: the listener must end it, whatever else might come.
  socket.write(Buffer.from(bytes, "latin1"));
  // A request that never becomes complete is ended by the listener's own time limit.
  await until(() => state.closed, "the end of the connection", 30_000);
  return state;
}

let front: TestFront;
const outcomes = new Map<string, { text: string; closed: boolean }>();

beforeAll(async () => {
  front = await startFront({ routes: [...echoRoutes().routes, ALIVE] });
  // All at once: what never becomes complete takes the listener's whole patience.
  const sent = Object.entries(AMBIGUOUS).map(async ([name, text]) => {
    outcomes.set(name, await exchange(front.port, `${text}${SECOND}`));
  });
  await Promise.all(sent);
});

afterAll(() => front.stop());

describe("request framing", () => {
  it.each(Object.keys(AMBIGUOUS))("serves nothing after %s", (name) => {
    const { text = "", closed } = outcomes.get(name) ?? {};
    expect(closed).toBe(true);
    expect(text).not.toContain("smuggled");
    expect(text.match(/HTTP\/1\.1 /g)?.length ?? 0).toBeLessThanOrEqual(1);
    expect(text).not.toContain("HTTP/1.1 101");
  });

  it("answers what it can read and will not serve with 400", async () => {
    const readable = ["two lengths", "a list of lengths", "two transfer codings", "two hosts"];
    for (const name of [...readable, "an upgrade with a body", "an upgrade with two hosts"]) {
      const { text } = await exchange(front.port, AMBIGUOUS[name] ?? "");
      expect(text, name).toMatch(/^HTTP\/1\.1 400 /);
    }
  });

  it.each([
    ["a plain one", post("Content-Length: 12\r\n"), '{"name":"x"}'],
    ["a constant answer", alive("Host: a\r\n"), '{"status":"ok"}'],
  ])("serves a second request after the answer to %s", async (_, first, answer) => {
    const socket = connect(front.port, "127.0.0.1");
    let text = "";
    socket.on("data", (data) => {
      text += data.toString("latin1");
    });
    socket.write(first);
    await until(() => text.includes(answer), "the first answer");
    socket.write(SECOND);
    await until(() => text.includes("smuggled"), "the second answer");
    socket.destroy();
  });

  it("serves none that comes in one packet with another, and none after one in chunks", async () => {
    for (const first of [
      post("Content-Length: 12\r\n"),
      get("Host: a\r\n"),
      alive("Host: a\r\n"),
    ]) {
      const { text } = await exchange(front.port, `${first}${SECOND}`);
      expect(text).not.toContain("smuggled");
    }
    const chunks = post("Transfer-Encoding: Chunked\r\n", CHUNKED);
    const chunked = await exchange(front.port, chunks);
    expect(chunked.text).toContain('{"name":"x"}');
    expect(chunked.text).toContain("Connection: close");
  });

  it("does not say what it runs on", async () => {
    const { headers } = await fetch(`${front.base}/things`);
    expect([...headers.keys()].filter((name) => /uwebsockets|server|powered/i.test(name))).toEqual(
      [],
    );
  });
});

describe("request framing behind nginx", () => {
  let nginx: Nginx;
  beforeAll(async () => {
    nginx = await Nginx.start({ httpPort: front.port, grpcPort: front.port });
  }, 60_000);
  afterAll(() => nginx?.stop());

  it.each(["http", "streaming"] as const)(
    "lets no header without a name through, whose body others would be given (%s)",
    async (port) => {
      const head = `GET /api/things HTTP/1.1\r\nHost: a\r\n: x\r\nContent-Length: ${SECOND.length}\r\n\r\n`;
      const attacker = connect(nginx.ports[port], "127.0.0.1");
      let text = "";
      attacker.on("data", (data) => {
        text += data.toString("latin1");
      });
      attacker.on("error", () => {});
      attacker.write(head);
      // The body comes by itself, when the service may have answered already.
      await until(() => text.includes("\r\n\r\n"), "an answer", 2_000).catch(() => {});
      attacker.write(SECOND);
      for (let limit = 1; limit <= 20; limit += 1) {
        const answer = await fetch(
          `http://127.0.0.1:${nginx.ports[port]}/api/things?limit=${limit}`,
        );
        expect(await answer.json()).toEqual({ limit });
        expect(answer.headers.get("x-request-id")).not.toBe("smuggled");
      }
      expect(text).not.toContain("smuggled");
      expect(text).toMatch(/^HTTP\/1\.1 400 /);
      attacker.destroy();
    },
  );
});
