import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { type TSchema, Type } from "@sinclair/typebox";
import { afterEach, describe, expect, it } from "vitest";
import { defineRoute, type Reply } from "../../src/rest/route.ts";
import { startFront, type TestFront, type TestFrontOptions } from "../support/front.ts";
import { KeptConnection, type RawAnswer } from "../support/kept-connection.ts";
import { allRoutes } from "../support/whole-document.ts";

const ORIGIN = "https://app.example";
const GZIP = { "accept-encoding": "gzip" };
const LINES = "what was said and by whom\n".repeat(400);
const text = Type.Object({ text: Type.String() });

let front: TestFront | undefined;
let connection: KeptConnection | undefined;

afterEach(async () => {
  connection?.end();
  await front?.stop();
});

function route(path: string, reply: Reply, schema: TSchema = text) {
  return defineRoute({
    method: "get",
    path,
    id: path,
    tag: "Session",
    summary: "It",
    auth: [],
    errors: [],
    responses: { 200: { description: "It", schema } },
    handle: async () => reply,
  });
}

async function start(options: Partial<TestFrontOptions> = {}): Promise<KeptConnection> {
  const documents = allRoutes().filter(({ constant }) => constant === true);
  const routes = [
    ...documents,
    route("/texts/{name}", { status: 200, body: { text: LINES } }),
    route("/plain", { status: 200, body: LINES, headers: { "Content-Type": "text/plain" } }),
    route("/sound", { status: 200, body: LINES, headers: { "Content-Type": "audio/wav" } }),
    route("/part", { status: 206, body: LINES, headers: { "Content-Range": "bytes 0-9/99" } }),
    route("/edge", { status: 200, body: { text: "x".repeat(1_013) } }),
    route("/over", { status: 200, body: { text: "x".repeat(1_014) } }),
    route("/keys", { status: 200, body: { key: LINES } }, Type.Object({ key: Type.String() })),
    route("/auth/who", { status: 200, body: { text: LINES } }),
    route("/missing", { status: 404, body: { text: LINES } }),
  ];
  front = await startFront({ routes, ...options });
  connection = new KeptConnection(front.port);
  return connection;
}

function decoded({ headers, body }: RawAnswer): string {
  const coding = headers["content-encoding"];
  if (coding === "gzip") return gunzipSync(body).toString();
  return (coding === "br" ? brotliDecompressSync(body) : body).toString();
}

describe("front compression", () => {
  it("packs what is larger than a kilobyte as the client asks, with its right length", async () => {
    const client = await start();
    for (const [accepted, coding] of [
      ["gzip, deflate, br", "br"],
      ["gzip", "gzip"],
      ["br;q=0, gzip;q=0.1", "gzip"],
      ["gzip;q=0, identity", undefined],
    ]) {
      for (const [path, whole] of [
        ["/api/texts/a", JSON.stringify({ text: LINES })],
        ["/api/plain", LINES],
      ]) {
        const answer = await client.ask("GET", `${path}`, { "accept-encoding": accepted ?? "" });
        expect(answer.headers["content-encoding"], accepted).toBe(coding);
        expect(answer.headers.vary, accepted).toBe("Accept-Encoding");
        expect(decoded(answer)).toBe(whole);
        const length = Number(answer.headers["content-length"]);
        if (coding === undefined) expect(length).toBe(whole?.length);
        else expect(length).toBeLessThan(500);
      }
    }
    expect(client.rest).toBe("");
  });

  it("tells caches of it also where it was not asked, and of origins too", async () => {
    const client = await start({ allowedOrigins: [ORIGIN] });
    for (const headers of [{}, GZIP, { ...GZIP, origin: ORIGIN }]) {
      const { vary } = (await client.ask("GET", "/api/texts/a", headers)).headers;
      expect(vary).toBe("Origin, Accept-Encoding");
    }
    expect((await client.ask("GET", "/api/keys", GZIP)).headers.vary).toBe("Origin");
  });

  it("leaves alone what is small, a secret, a part, no text or an error", async () => {
    const client = await start();
    for (const path of ["edge", "keys", "auth/who", "part", "sound", "missing"]) {
      const answer = await client.ask("GET", `/api/${path}`, GZIP);
      expect(answer.headers["content-encoding"], path).toBeUndefined();
      expect(answer.headers.vary, path).toBeUndefined();
      expect(answer.body.length, path).toBeGreaterThan(1_000);
    }
    const over = await client.ask("GET", "/api/over", GZIP);
    expect(over.headers["content-encoding"]).toBe("gzip");
  });

  it("answers HEAD as GET", async () => {
    const client = await start();
    for (const headers of [{}, GZIP]) {
      const got = (await client.ask("GET", "/api/texts/a", headers)).headers;
      const head = (await client.ask("HEAD", "/api/texts/a", headers)).headers;
      for (const name of ["content-length", "content-encoding", "vary", "etag"]) {
        expect(head[name], name).toBe(got[name]);
      }
    }
  });

  it("knows its own tags, packed or not", async () => {
    const client = await start();
    const plain = (await client.ask("GET", "/api/texts/a")).headers.etag ?? "";
    const weak = (await client.ask("GET", "/api/texts/a", GZIP)).headers.etag ?? "";
    expect([plain, weak]).toEqual([expect.stringMatching(/^"/), `W/${plain}`]);
    for (const tag of [plain, weak]) {
      for (const headers of [{}, GZIP]) {
        const known = { ...headers, "if-none-match": tag };
        const { status, headers: told } = await client.ask("GET", "/api/texts/a", known);
        expect([status, told.etag, told["content-encoding"]]).toEqual([304, tag, undefined]);
      }
    }
  });

  it("makes the documents' bytes once", async () => {
    const client = await start();
    for (const path of ["/api/openapi.json", "/api/asyncapi.json"]) {
      const plain = await client.ask("GET", path);
      for (const coding of ["gzip", "br"]) {
        const ask = () => client.ask("GET", path, { "accept-encoding": coding });
        const [first, again] = [await ask(), await ask()];
        expect(first.headers["content-encoding"], path).toBe(coding);
        expect(decoded(first) === plain.body.toString(), path).toBe(true);
        expect(first.body.length * 4, path).toBeLessThan(plain.body.length);
        expect(again.body.equals(first.body), path).toBe(true);
      }
    }
  });
});
