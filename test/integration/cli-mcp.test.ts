import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runVoice } from "../support/voice-run.ts";

interface Message {
  id?: number;
  method: string;
}

/** In the order of their ids: calls are under way at once. */
function byId<T extends { id?: unknown }>(messages: readonly T[]): T[] {
  return messages.toSorted((one, other) => Number(one.id) - Number(other.id));
}

type Respond = (message: Message, answer: (status: number, body: object) => void) => void;

const echo: Respond = ({ id, method }, answer) => {
  answer(200, { jsonrpc: "2.0", id, result: { method } });
};

describe("voice mcp", () => {
  let folder = "";
  let server: Server;
  let base = "";
  let respond: Respond;
  let got: { headers: IncomingMessage["headers"]; message: Message }[];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "voice-mcp-"));
    respond = echo;
    got = [];
    server = createServer((request, response) => void serve(request, response));
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const address = server.address();
    base = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
    rmSync(folder, { recursive: true });
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = (status: number, body: object) => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    if (request.url !== "/api/mcp") return answer(200, { status: "ok" });
    const message = (await json(request)) as Message;
    got.push({ headers: request.headers, message });
    respond(message, answer);
  }

  const lines = (...messages: (object | string)[]) =>
    messages
      .map((each) => (typeof each === "string" ? each : JSON.stringify(each)))
      .map((line) => `${line}\n`)
      .join("");
  const call = (id: number) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name: "x" },
  });
  const voice = (input: string, args = ["--base-url", base], env = { VOICE_KEY: "vk_key" }) =>
    runVoice(["mcp", ...args], { folder, input, env });

  it("gives each request to the service by the key, and answers all before it ends", async () => {
    const told = { jsonrpc: "2.0", method: "notifications/initialized" };
    const { code, json: answers, stderr } = await voice(lines(call(1), told, "garbage", call(2)));
    expect(code).toBe(0);
    const result = { method: "tools/call" };
    expect(byId(answers)).toEqual([1, 2].map((id) => ({ jsonrpc: "2.0", id, result })));
    expect(byId(got.map(({ message }) => message))).toEqual([call(1), call(2)]);
    expect(got.map(({ headers }) => headers["x-api-key"])).toEqual(["vk_key", "vk_key"]);
    expect(stderr).toMatch(/^voice: .*garbage.*\n$/);
  });

  it("acts as the user who is named, whatever key there is", async () => {
    await voice(lines(call(1)), ["--base-url", base, "--token", "a-token"]);
    const [first] = got;
    expect(first?.headers.authorization).toBe("Bearer a-token");
    expect(first?.headers["x-api-key"]).toBeUndefined();
  });

  it("tells a client what the service refuses, and goes on", async () => {
    respond = (message, answer) => {
      if (message.id === 2) return echo(message, answer);
      answer(401, { success: false, message: "The service key is revoked." });
    };
    const { code, json: answers } = await voice(lines(call(1), call(2)));
    expect(code).toBe(0);
    expect(answers).toContainEqual({
      ...{ jsonrpc: "2.0", id: 1 },
      error: { code: -32_603, message: "The service key is revoked." },
    });
    expect(answers).toContainEqual(expect.objectContaining({ id: 2, result: expect.anything() }));
  });

  it("ends a call that the client cancels, without an answer", async () => {
    // The service never answers the first.
    respond = (message, answer) => (message.id === 1 ? undefined : echo(message, answer));
    const cancelled = { method: "notifications/cancelled", params: { requestId: 1 } };
    const input = lines(call(1), { jsonrpc: "2.0", ...cancelled }, call(2));
    const { code, json: answers } = await voice(input);
    expect(code).toBe(0);
    expect(answers.map(({ id }) => id)).toEqual([2]);
  });

  it("carries out sixteen calls at once, and refuses what is more", async () => {
    const waiting: (() => void)[] = [];
    respond = (message, answer) => {
      waiting.push(() => echo(message, answer));
      if (waiting.length === 16) for (const each of waiting) each();
    };
    const ids = Array.from({ length: 17 }, (_, index) => index);
    const { json: answers } = await voice(lines(...ids.map(call)));
    expect(answers).toHaveLength(17);
    expect(answers.filter(({ error }) => error !== undefined)).toEqual([
      expect.objectContaining({
        id: 16,
        error: { code: -32_603, message: "More than 16 calls at once." },
      }),
    ]);
  });

  it("ends at a message that is larger than the service takes", async () => {
    const large = lines({ ...call(1), params: { name: "x".repeat(1_100_000) } });
    const { code, stderr } = await voice(large);
    expect(code).toBe(1);
    expect(stderr).toContain("voice: a message has more than 1048576 bytes\n");
    expect(got).toEqual([]);
  });

  it("says at once why it cannot begin", async () => {
    const none = await voice("", ["--base-url", "http://127.0.0.1:9"]);
    expect([none.code, none.stderr]).toEqual([5, expect.stringContaining("no answer from")]);
    const nobody = await voice("", ["--base-url", base], { VOICE_KEY: "" });
    expect([nobody.code, nobody.stderr]).toEqual([3, expect.stringContaining("not signed in")]);
  });
});
