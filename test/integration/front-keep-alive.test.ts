import { Agent, type IncomingMessage, request } from "node:http";
import { Type } from "@sinclair/typebox";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { newId } from "../../src/base/ids.ts";
import { healthRoutes } from "../../src/conversations/admin/health.ts";
import { defineRoute } from "../../src/rest/route.ts";
import { echoRoutes } from "../support/echo-routes.ts";
import { startFront, type TestFront, type TestFrontOptions } from "../support/front.ts";
import { KeptConnection, type RawAnswer, requestText } from "../support/kept-connection.ts";
import { until } from "../support/until.ts";

const DOCUMENT = { text: "x".repeat(2_000) };
const ORIGIN = "https://app.example";
const PREFLIGHT = { origin: ORIGIN, "access-control-request-method": "POST" };

let front: TestFront | undefined;
const connections: KeptConnection[] = [];

afterEach(async () => {
  for (const connection of connections.splice(0)) connection.end();
  await front?.stop();
  front = undefined;
});

async function start(options: Partial<TestFrontOptions> = {}): Promise<TestFront> {
  const responses = { 200: { description: "It.", schema: Type.Unknown() } };
  const base = { tag: "Session", summary: "One", auth: [], errors: [] } as const;
  const document = defineRoute({
    ...base,
    method: "get",
    path: "/documents/{name}",
    id: "document",
    responses,
    handle: async () => ({ status: 200, body: DOCUMENT }),
  });
  const sound = defineRoute({
    ...base,
    method: "get",
    path: "/sound",
    id: "sound",
    responses: { 200: { description: "Bytes", mediaTypes: ["audio/wav"] } },
    handle: async () => ({
      status: 200,
      headers: { "content-type": "audio/wav" },
      stream: {
        length: 100_000,
        async *open() {
          yield Buffer.alloc(60_000);
          yield Buffer.alloc(40_000);
        },
      },
    }),
  });
  const health = healthRoutes({
    checks: { run: async () => ({}) },
    version: "1",
    clock: systemClock,
  });
  const routes = [...echoRoutes().routes, ...health, document, sound];
  front = await startFront({ routes, ...options });
  return front;
}

function dial({ port }: TestFront): KeptConnection {
  const connection = new KeptConnection(port);
  connections.push(connection);
  return connection;
}

/** A request over the agent's connection, which is the same again when it was kept. */
function ask(
  agent: Agent,
  { port }: TestFront,
  [method, path, headers]: readonly [string, string, Record<string, string>?],
): Promise<{ answer: IncomingMessage; reused: boolean; bytes: number }> {
  return new Promise((resolve, reject) => {
    const sent = request({ agent, port, host: "127.0.0.1", method, path, headers }, (answer) => {
      let bytes = 0;
      answer.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
      });
      answer.on("end", () => resolve({ answer, reused: sent.reusedSocket, bytes }));
      answer.on("error", reject);
    });
    sent.on("error", reject);
    sent.end();
  });
}

/** Of its headers; what is always the same draws on no budget, save when asked with HEAD. */
function namesOf({ headers }: RawAnswer): string[] {
  const names = Object.keys(headers).filter((name) => !name.startsWith("ratelimit-"));
  return names.sort();
}

async function tagOf(connection: KeptConnection): Promise<string> {
  return (await connection.ask("GET", "/api/documents/a")).headers.etag ?? "";
}

describe("front keep-alive: answers without a body", () => {
  it("keeps the connection after HEAD and tells the length of the GET", async () => {
    const connection = dial(await start());
    for (const path of [
      "/api/health",
      "/api/health/live",
      "/api/documents/a",
      "/api/sound",
      "/api/things?limit=1",
      "/api/nothing",
    ]) {
      const got = await connection.ask("GET", path);
      const head = await connection.ask("HEAD", path);
      expect([head.status, connection.rest], path).toEqual([got.status, ""]);
      const length = Number(head.headers["content-length"]);
      if (path === "/api/health") expect(length).toBeGreaterThan(0);
      else expect(length, path).toBe(got.body.length);
      expect(namesOf(head), path).toEqual(namesOf(got));
    }
    expect(connection.closed).toBe(false);
  });

  it("keeps the connection after 204 and 304, which tell no length", async () => {
    const connection = dial(await start({ allowedOrigins: [ORIGIN] }));
    const tag = await tagOf(connection);
    const known = { "if-none-match": tag };
    for (const [method, path, headers, status] of [
      ["DELETE", `/api/things/${newId()}`, {}, 204],
      ["OPTIONS", "/api/things", {}, 204],
      ["OPTIONS", "/api/things", PREFLIGHT, 204],
      ["OPTIONS", "/api/things", { ...PREFLIGHT, origin: "https://other.example" }, 204],
      ["OPTIONS", "/api/health/live", PREFLIGHT, 204],
      ["GET", "/api/documents/a", known, 304],
      ["HEAD", "/api/documents/a", known, 304],
    ] as const) {
      const answer = await connection.ask(method, path, headers);
      const next = await connection.ask("GET", "/api/things?limit=3");
      expect([answer.status, next.status, String(next.body)], `${method} ${path}`).toEqual([
        status,
        200,
        '{"limit":3}',
      ]);
      expect(answer.headers["content-length"], `${method} ${path}`).toBeUndefined();
      expect(answer.headers["transfer-encoding"], `${method} ${path}`).toBeUndefined();
    }
    expect(connection.closed).toBe(false);
  });

  it("serves Node's agent over one connection", async () => {
    const service = await start();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const tag = (await ask(agent, service, ["GET", "/api/documents/a"])).answer.headers.etag ?? "";
    const requests = [
      ["HEAD", "/api/health"],
      ["HEAD", "/api/sound"],
      ["OPTIONS", "/api/things", PREFLIGHT],
      ["DELETE", `/api/things/${newId()}`],
      ["GET", "/api/documents/a", { "if-none-match": tag }],
      ["GET", "/api/sound"],
      ["GET", "/api/documents/a"],
    ] as const;
    const seen: unknown[] = [];
    for (const each of requests) {
      const { answer, reused, bytes } = await ask(agent, service, each);
      seen.push([answer.statusCode, reused, bytes]);
    }
    agent.destroy();
    const size = JSON.stringify(DOCUMENT).length;
    expect(seen).toEqual([
      [200, true, 0],
      [200, true, 0],
      [204, true, 0],
      [204, true, 0],
      [304, true, 0],
      [200, true, 100_000],
      [200, true, size],
    ]);
  });

  it("ends the connection with each of them once the service leaves", async () => {
    const service = await start();
    const tag = await tagOf(dial(service));
    const asked = [
      ["HEAD", "/api/sound", {}],
      ["HEAD", "/api/documents/a", {}],
      ["OPTIONS", "/api/things", {}],
      ["GET", "/api/documents/a", { "if-none-match": tag }],
    ] as const;
    const waiting = asked.map(() => dial(service));
    // Each has to be there before the service stops listening.
    await Promise.all(waiting.map((connection) => connection.ask("GET", "/api/health/live")));
    const drained = service.server.drain(1_500);
    for (const [index, [method, path, headers]] of asked.entries()) {
      const connection = waiting[index];
      const answer = await connection?.ask(method, path, headers);
      expect(answer?.headers.connection, `${method} ${path}`).toBe("close");
      const length = answer?.headers["content-length"];
      expect(length, path).toBe({ "/api/sound": "100000" }[path as string] ?? length);
      await until(() => connection?.closed === true, "the end of the connection");
    }
    await service.stop();
    front = undefined;
    await drained;
  });
});

describe("front keep-alive: requests sent without waiting", () => {
  it.each([
    ["takes its time", requestText("HEAD", "/api/slow")],
    ["is a preflight", requestText("OPTIONS", "/api/things", PREFLIGHT)],
    ["is always the same", requestText("GET", "/api/health/live")],
    ["is nothing", requestText("OPTIONS", "/api/nothing")],
  ])(
    "ends the connection rather than answer what may be a body, the first %s",
    async (_, first) => {
      const connection = dial(await start());
      connection.write(first + requestText("GET", "/api/things?limit=2"));
      await until(() => connection.closed, "the end of the connection");
      expect(connection.rest).toBe("");
    },
  );
});
