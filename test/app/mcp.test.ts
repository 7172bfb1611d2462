import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AppFixture } from "../support/app-fixture.ts";
import {
  adminToken,
  call,
  PairedDevice,
  type Segment,
  scriptedChunks,
} from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

const MAIN = join(import.meta.dirname, "../../src/cli/main.ts");

interface Passage {
  session_id: string;
  segment_id: string;
  start_ms: number;
  end_ms: number;
  speaker_label: string;
  speaker_name?: string;
  text: string;
}

interface Result {
  isError?: boolean;
  text: string;
  code: unknown;
  found: Record<string, unknown>;
}

type Headers = Record<string, string>;

describe("MCP", () => {
  let service: AppFixture;
  let owner: WorkspaceOwner;
  let device: PairedDevice;
  let segments: Segment[];
  let made: { id: string; key: string };
  const open: Client[] = [];

  beforeAll(async () => {
    service = await AppFixture.shared();
    owner = await newOwner(service);
    device = await PairedDevice.pair(service, owner);
    await device.start();
    const chunks = scriptedChunks(4);
    for (const [sequence, pcm] of chunks.entries()) await device.upload(sequence, pcm);
    await device.stop(chunks.length - 1);
    await device.completed();
    segments = await device.segments();
    const body = { title: "Price of the launch", tags: ["mcp"] };
    await send("PATCH", `/sessions/${device.sessionId}`, body);
    await send("POST", `/sessions/${device.sessionId}/speaker-claims`, {
      ...{ speaker_label: "S1", source: "self_claim" },
    });
    made = await newKey(owner, "sessions:read", "query");
  });
  afterAll(async () => {
    for (const client of open) await client.close();
  });

  async function send<T>(method: string, path: string, body?: object, token = owner.token) {
    const options = { token, ...(body && { body }) };
    const answer = await call<T>(service.api, method, path, options);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
    return answer.body;
  }

  function newKey({ token, workspaceId }: WorkspaceOwner, ...scopes: string[]) {
    const body = { workspace_id: workspaceId, name: "Assistant", scopes };
    return send<{ id: string; key: string }>("POST", "/api-keys", body, token);
  }

  async function connect(headers: Headers): Promise<Client> {
    const client = new Client({ name: "test", version: "1" });
    const address = new URL(`${service.api}/mcp`);
    await client.connect(
      new StreamableHTTPClientTransport(address, { requestInit: { headers } }) as never,
    );
    open.push(client);
    return client;
  }

  /** The client checks what it gets by the tool's output schema, once it knows the tools. */
  async function use(client: Client, name: string, given: object): Promise<Result> {
    const answer = await client.callTool({ name, arguments: { ...given } });
    const content = answer.content as { text: string }[];
    return {
      ...(answer.isError === true ? { isError: true } : {}),
      text: content.map(({ text }) => text).join("\n"),
      code: answer._meta?.error_code,
      found: (answer.structuredContent ?? {}) as Record<string, unknown>,
    };
  }

  const asKey = (key = made.key) => connect({ "x-api-key": key });
  const asUser = (token = owner.token) => connect({ authorization: `Bearer ${token}` });

  /** One message without a client's help. */
  function message(headers: Headers, body: string | object): Promise<Response> {
    return fetch(`${service.api}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": made.key, ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  }
  const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };

  function saying(words: RegExp): Segment {
    const segment = segments.find(({ text }) => words.test(text));
    if (segment === undefined) throw new Error(`Nobody said ${words}.`);
    return segment;
  }

  it("mcp: a client with a key initializes, and is told of tools that read", async () => {
    const client = await asKey();
    expect(client.getServerVersion()).toMatchObject({ name: "voice" });
    expect(client.getInstructions()).toContain("never an instruction");
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      ...["find_sessions", "search_transcripts", "read_transcript"],
      ...["ask", "list_action_items", "list_decisions"],
    ]);
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
    await client.ping();
  });

  it("mcp: finds the session by title, tag, day and state, and by its words", async () => {
    const client = await asKey();
    await client.listTools();
    const day = new Date().toISOString().slice(0, 10);
    const given = { title: "price", tags: ["mcp"], from: day, status: "completed" };
    const { found } = await use(client, "find_sessions", given);
    expect(found).toMatchObject({
      sessions: [{ session_id: device.sessionId, title: "Price of the launch" }],
      next_cursor: null,
    });
    const none = await use(client, "find_sessions", {
      ...given,
      from: "2020-01-01",
      to: "2020-12-31",
    });
    expect(none.found.sessions).toEqual([]);
    const { found: hits, text } = await use(client, "search_transcripts", { words: "customers" });
    const segment = saying(/customers/);
    expect(hits.hits).toMatchObject([
      {
        ...{ session_id: device.sessionId, segment_id: segment.id, text: segment.text },
        ...{ start_ms: segment.start_ms, end_ms: segment.end_ms },
        speaker_label: segment.speaker_label,
      },
    ]);
    expect(text).toContain(`segment ${segment.id}`);
    expect(text).toContain("never instructions");
  });

  it("mcp: reads a part by time or by segments, page by page, with names", async () => {
    const client = await asUser();
    await client.listTools();
    const session_id = device.sessionId;
    const read: Passage[] = [];
    let cursor: unknown;
    do {
      const { found } = await use(client, "read_transcript", { session_id, limit: 2, cursor });
      const passages = found.passages as Passage[];
      expect(passages.length).toBeLessThanOrEqual(2);
      read.push(...passages);
      cursor = found.next_cursor;
    } while (cursor !== null);
    expect(read.map(({ segment_id }) => segment_id)).toEqual(segments.map(({ id }) => id));
    expect(read.map(({ text }) => text)).toEqual(segments.map(({ text }) => text));
    const own = read.filter(({ speaker_label }) => speaker_label === "S1");
    expect(own.map(({ speaker_name }) => speaker_name)).toEqual(own.map(() => "Olga"));
    const [, second, third] = segments as [Segment, Segment, Segment];
    const part = async (given: object) => {
      const { found } = await use(client, "read_transcript", { session_id, ...given });
      return (found.passages as Passage[]).map(({ segment_id }) => segment_id);
    };
    const span = { from_ms: second.start_ms + 1, to_ms: second.end_ms };
    expect(await part(span)).toContain(second.id);
    expect(await part(span)).not.toContain(segments.at(-1)?.id);
    const between = { from_segment_id: second.id, to_segment_id: third.id };
    expect(await part(between)).toEqual(expect.arrayContaining([second.id, third.id]));
    expect(await part(between)).not.toContain(segments.at(-1)?.id);
  });

  it("mcp: answers with citations, about the session and about the key's workspace", async () => {
    const client = await asKey();
    await client.listTools();
    const question = "What should the price stay below?";
    for (const about of [{ session_id: device.sessionId }, {}]) {
      const { found, text } = await use(client, "ask", { question, ...about });
      const cited = (found.citations as Passage[]).find(({ segment_id }) => {
        return segment_id === saying(/hundred/).id;
      });
      expect(cited).toMatchObject({
        ...{ session_id: device.sessionId, text: saying(/hundred/).text },
        start_ms: saying(/hundred/).start_ms,
      });
      expect(text).toContain("It cites:");
    }
    const person = await asUser();
    const { found } = await use(person, "ask", { question });
    expect(found.citations).not.toEqual([]);
  });

  it("mcp: lists what notes say of action items and decisions, with the segments that say so", async () => {
    const client = await asKey();
    await client.listTools();
    const given = { session_id: device.sessionId };
    const areMade = async () => {
      const lists = ["list_action_items", "list_decisions"];
      const results = await Promise.all(lists.map((name) => use(client, name, given)));
      return results.every(({ found }) => found.pending === false && found.stale === false);
    };
    await until(areMade, "the notes", 120_000);
    const { found } = await use(client, "list_action_items", given);
    const ids = new Set(segments.map(({ id }) => id));
    const items = found.items as { segment_ids: string[]; done: boolean }[];
    expect(items.length).toBeGreaterThan(0);
    expect(items.every(({ segment_ids }) => segment_ids.every((id) => ids.has(id)))).toBe(true);
    expect(items.every(({ done }) => done === false)).toBe(true);
    const decisions = await use(client, "list_decisions", given);
    expect(decisions.found).toMatchObject({
      made_at: expect.any(String),
      items: expect.any(Array),
    });
  });

  it("mcp: shows nothing of another workspace, whatever the client calls its session", async () => {
    const other = await newOwner(service);
    const strange = await newKey(other, "sessions:read", "query");
    const client = await connect({ "x-api-key": strange.key, "mcp-session-id": "somebody-elses" });
    await client.listTools();
    expect((await use(client, "find_sessions", {})).found.sessions).toEqual([]);
    expect((await use(client, "search_transcripts", { words: "customers" })).found.hits).toEqual(
      [],
    );
    const session_id = device.sessionId;
    for (const [name, given] of [
      ["read_transcript", { session_id }],
      ["ask", { session_id, question: "What about the price?" }],
      ["ask", { workspace_id: owner.workspaceId, question: "What about the price?" }],
      ["list_action_items", { session_id }],
      ["list_decisions", { session_id }],
      ["search_transcripts", { words: "customers", workspace_id: owner.workspaceId }],
    ] as const) {
      expect(await use(client, name, given)).toMatchObject({ isError: true, code: "not_found" });
    }
    const person = await asUser(other.token);
    const read = await use(person, "read_transcript", { session_id });
    expect(read).toMatchObject({ isError: true, code: "forbidden" });
  });

  it("mcp: a key needs both scopes, and is refused at the next call once it is revoked", async () => {
    const reader = await newKey(owner, "sessions:read");
    await expect(asKey(reader.key)).rejects.toThrow("This key lacks the scope query.");
    const asker = await newKey(owner, "query");
    await expect(asKey(asker.key)).rejects.toThrow("This key lacks the scope sessions:read.");
    const short = await newKey(owner, "sessions:read", "query");
    const client = await asKey(short.key);
    expect((await use(client, "find_sessions", {})).isError).toBeUndefined();
    await send("DELETE", `/api-keys/${short.id}`);
    await expect(use(client, "find_sessions", {})).rejects.toMatchObject({
      ...{ code: 401, message: expect.stringContaining("revoked") },
    });
    await expect(connect({})).rejects.toThrow();
    expect((await message({ "x-api-key": device.key }, LIST)).status).toBe(401);
  });

  it("mcp: an administrator reads under an elevation only, and each read is on record", async () => {
    const admin = await newOwner(service, "admin");
    const client = await asUser(admin.token);
    await client.listTools();
    const session_id = device.sessionId;
    const read = () => use(client, "read_transcript", { session_id });
    expect(await read()).toMatchObject({ isError: true, code: "elevation_required" });
    const reason = "Complaint 4711, what was said";
    await send("POST", "/admin/content-elevate", { reason, session_id }, admin.token);
    expect((await read()).found.passages).toHaveLength(segments.length);
    await use(client, "ask", { session_id, question: "What about the price?" });
    await use(client, "list_decisions", { session_id });
    const query = `session_id=${session_id}&actor_id=${admin.id}&kind=content_read`;
    const path = `/admin/audit?limit=100&${query}`;
    const { items } = await send<{ items: object[] }>(
      "GET",
      path,
      undefined,
      await adminToken(service),
    );
    expect(items).toHaveLength(3);
  });

  it("mcp: tells of unknown tools and wrong arguments in sentences", async () => {
    const client = await asKey();
    await expect(use(client, "delete_session", {})).rejects.toThrow(
      'MCP error -32602: There is no tool "delete_session".',
    );
    expect(await use(client, "read_transcript", {})).toMatchObject({
      ...{ isError: true, code: "invalid_parameter", text: '"session_id" is required.' },
    });
    expect(await use(client, "read_transcript", { session_id: "x" })).toMatchObject({
      ...{ isError: true, code: "not_found", text: '"x" is not the id of a session.' },
    });
    expect(await use(client, "find_sessions", { titel: "x" })).toMatchObject({
      ...{ isError: true, code: "invalid_parameter" },
    });
  });

  it("mcp: refuses strange origins, large bodies, batches, and what is no message", async () => {
    const codeOf = async (headers: Headers, body: string | object) => {
      const response = await message(headers, body);
      return [response.status, response.headers.get("x-error-code")];
    };
    for (const origin of ["https://evil.example", "null"]) {
      expect(await codeOf({ origin }, LIST)).toEqual([403, "forbidden"]);
    }
    const host = "evil.example";
    expect(await codeOf({ origin: `http://${host}`, host }, LIST)).toEqual([403, "forbidden"]);
    expect(await codeOf({ origin: service.ready.base_url }, LIST)).toEqual([200, null]);
    const large = JSON.stringify({ ...LIST, params: { text: "x".repeat(1_100_000) } });
    expect(await codeOf({}, large)).toEqual([413, "payload_too_large"]);
    expect(await codeOf({}, [LIST, LIST])).toEqual([400, "invalid_body"]);
    expect(await codeOf({}, "{")).toEqual([400, "invalid_json"]);
    expect(await codeOf({}, { jsonrpc: "2.0", id: 1 })).toEqual([400, "invalid_body"]);
    expect(await codeOf({ "mcp-protocol-version": "1999-01-01" }, LIST)).toEqual([
      ...[400, "bad_request"],
    ]);
    const got = await fetch(`${service.api}/mcp`, { headers: { "x-api-key": made.key } });
    expect([got.status, got.headers.get("allow")]).toEqual([405, "OPTIONS, POST"]);
  });

  it("mcp: keeps no session: an answer names none, and a notification gets nothing", async () => {
    const params = {
      ...{ protocolVersion: "2025-06-18", capabilities: {} },
      clientInfo: { name: "test", version: "1" },
    };
    const begun = await message({}, { ...LIST, method: "initialize", params });
    expect(begun.headers.get("mcp-session-id")).toBeNull();
    expect(begun.headers.get("content-type")).toContain("application/json");
    const { result } = (await begun.json()) as { result: { protocolVersion: string } };
    expect(result.protocolVersion).toBe("2025-06-18");
    const told = await message({}, { jsonrpc: "2.0", method: "notifications/initialized" });
    expect([told.status, await told.text()]).toEqual([202, ""]);
  });

  it("mcp: `voice mcp` gives the same over stdin and stdout, by a key", async () => {
    const folder = mkdtempSync(join(tmpdir(), "voice-mcp-"));
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: ["--disable-warning=ExperimentalWarning", MAIN, "mcp", "--base-url", service.api],
      env: { PATH: process.env.PATH ?? "", XDG_CONFIG_HOME: folder, VOICE_KEY: made.key },
      stderr: "pipe",
    });
    const client = new Client({ name: "test", version: "1" });
    try {
      await client.connect(transport as never);
      const { tools } = await client.listTools();
      expect(tools).toHaveLength(6);
      const question = "What should the price stay below?";
      const { found } = await use(client, "ask", { question });
      expect((found.citations as Passage[]).map(({ segment_id }) => segment_id)).toContain(
        saying(/hundred/).id,
      );
      const refused = await use(client, "read_transcript", { session_id: "x" });
      expect(refused).toMatchObject({ isError: true, code: "not_found" });
      await expect(use(client, "delete_session", {})).rejects.toThrow("There is no tool");
    } finally {
      await client.close();
      rmSync(folder, { recursive: true });
    }
  });

  it("mcp: what is redacted is neither read nor found any more", async () => {
    const client = await asKey();
    await client.listTools();
    const { id, start_ms, end_ms, text } = saying(/customers/);
    const span = { start_ms: start_ms + 100, end_ms: end_ms - 100 };
    await send("POST", `/sessions/${device.sessionId}/redactions`, span);
    const given = { session_id: device.sessionId, from_segment_id: id, to_segment_id: id };
    const { found } = await use(client, "read_transcript", given);
    const passage = (found.passages as Passage[]).find(({ segment_id }) => segment_id === id);
    expect(passage?.text).toBe("[redacted-span]");
    const { text: hits } = await use(client, "search_transcripts", { words: "customers" });
    expect(hits).not.toContain(text);
  });
});
