import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { ConformanceFixture, expectProblem, time } from "../support/conformance-fixture.ts";
import type { Answer } from "../support/paired-device.ts";

const UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const JSON_LIMIT = 1024 * 1024;

type Page = { items: { id: string }[]; next_cursor: string | null };

/** What holds for every route alike. */
describe("conformance: conventions", () => {
  let fixture: ConformanceFixture;
  let token: string;
  beforeAll(async () => {
    fixture = await ConformanceFixture.open();
    fixture.sessionId = await fixture.start();
    token = fixture.owner.token;
  });
  afterAll(() => fixture?.close());

  /** A call that the OpenAPI document does not know. */
  async function raw(method: string, path: string, init: RequestInit = {}): Promise<Answer> {
    const response = await fetch(`${fixture.service.api}${path}`, { method, ...init });
    const { status, headers } = response;
    return { status, headers, body: (await response.json()) as Record<string, unknown> };
  }

  const workspace = (body: object, headers: Record<string, string> = {}) =>
    fixture.send<{ id: string; name: string; updated_at: string }>("POST", "/workspaces", {
      token,
      body,
      headers,
    });

  it("base: OpenAPI 3.1 and AsyncAPI 3 documents, and docs from local assets only", async () => {
    const openapi = await raw("GET", "/openapi.json");
    expect(openapi.body.openapi).toMatch(/^3\.1\./);
    const asyncapi = await raw("GET", "/asyncapi.json");
    expect(asyncapi.body.asyncapi).toMatch(/^3\./);
    const docs = await fetch(`${fixture.service.api}/docs`);
    expect(docs.headers.get("content-type")).toMatch(/^text\/html/);
    expect(await docs.text()).not.toMatch(/(src|href)="(https?:)?\/\//);
  });

  it("bodies: JSON in UTF-8 both ways, unknown members are ignored", async () => {
    const made = await workspace({
      name: "Büro 東京",
      preferred_language: "en",
      unknown: { a: 1 },
    });
    expect(made.status).toBe(201);
    expect(made.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(made.body.name).toBe("Büro 東京");
    expect(made.body).not.toHaveProperty("unknown");
  });

  it("bodies: unknown query parameters are 400 on lists and searches, ignored elsewhere", async () => {
    const authorization = { authorization: `Bearer ${token}` };
    const ask = (path: string) => raw("GET", path, { headers: authorization });
    const session = `/sessions/${fixture.sessionId}`;
    const { body } = await ask("/sessions?sort=title&q=garden");
    expect(body.message).toMatch(
      /^"q" is not known here; this list takes limit, cursor, workspace_id, status, .*title.*sort/,
    );
    for (const list of ["/sessions", "/workspaces", "/devices", "/jobs", `${session}/segments`]) {
      expectProblem(await ask(`${list}?kind=person`), 400, "invalid_parameter");
    }
    for (const other of ["/health", "/auth/me", session, `${session}/completeness`]) {
      expect([other, (await ask(`${other}?kind=person`)).status]).toEqual([other, 200]);
    }
  });

  it("bodies: a missing or mistyped required member, no JSON and no body are 400", async () => {
    for (const body of [{}, { name: 5 }, { name: null }, { name: ["x"] }, [], 7, null]) {
      expectProblem(await workspace(body as object), 400, "invalid_body");
    }
    const headers = { "content-type": "application/json" };
    const broken = { token, headers, body: '{"name": ' };
    expectProblem(await fixture.send("POST", "/workspaces", broken), 400, "invalid_json");
    expectProblem(await fixture.send("POST", "/workspaces", { token }), 400, "invalid_body");
  });

  it("error body: two members, the code in X-Error-Code from the documented list", async () => {
    const { body } = await raw("GET", "/openapi.json");
    const unknown = await raw("GET", "/nowhere");
    expectProblem(unknown, 404, "not_found");
    expect(JSON.stringify(body)).toContain('"not_found"');
    const wrong = await raw("DELETE", "/health");
    expectProblem(wrong, 405, "method_not_allowed");
    expect(wrong.headers.get("allow")).toContain("GET");
  });

  it("error body: X-Request-Id is the caller's when valid, else made", async () => {
    const idOf = async (id?: string) => {
      const headers: Record<string, string> = id === undefined ? {} : { "x-request-id": id };
      return (await fixture.send("GET", "/auth/me", { headers })).headers.get("x-request-id");
    };
    expect(await idOf("my-request.7")).toBe("my-request.7");
    for (const given of [undefined, "with space", "x".repeat(129), "semi;colon"]) {
      expect(await idOf(given)).toMatch(UUID7);
    }
    const fine = { token, headers: { "x-request-id": "fine" } };
    expect((await fixture.send("GET", "/auth/me", fine)).headers.get("x-request-id")).toBe("fine");
  });

  it("ids: UUIDv7 in lower case; a malformed one in a path is an unknown one", async () => {
    const session = await fixture.done("GET", `/sessions/${fixture.sessionId}`, { token });
    const ids = ["id", "workspace_id", "owner_id", "device_id", "transcription_job_id"];
    for (const name of ids) expect(session[name]).toMatch(UUID7);
    const upper = fixture.sessionId.toUpperCase();
    for (const id of ["none", "1", upper, `${fixture.sessionId}0`, "%00", "..%2Fusers", "%F0%9F"]) {
      const answer = await fixture.send("GET", `/sessions/${id}`, { token });
      expectProblem(answer, 404, "not_found");
    }
  });

  it("times: RFC 3339 in UTC with milliseconds", async () => {
    const { body } = await workspace({ name: "Times" });
    expect(time(body.updated_at)).toBe(true);
  });

  it("order of checks: 401, 403 by role, 404, 403 by relation, 400, 404 of the body, 409 or 412", async () => {
    const bad = { source: "hearsay" };
    const claims = `/sessions/${fixture.sessionId}/speaker-claims`;
    const nowhere = `/sessions/${newId()}/speaker-claims`;
    const stranger = fixture.stranger.token;
    const steps: [string, string, object, number][] = [
      ["POST", nowhere, { body: bad }, 401],
      ["POST", nowhere, { body: bad, token: stranger }, 404],
      ["POST", claims, { body: bad, token: stranger }, 403],
      ["POST", claims, { body: bad, token }, 400],
      ["POST", `/admin/jobs/transcriptions/none/redo`, { body: [], token }, 403],
      ["GET", "/admin/jobs/transcriptions?limit=0", { token }, 403],
      ["GET", `/sessions/${newId()}/chunks?limit=0`, { token }, 404],
      ["GET", `/sessions/${fixture.sessionId}/chunks?limit=0`, { token: stranger }, 403],
      ["GET", `/sessions/${fixture.sessionId}/chunks?limit=0`, { token }, 400],
      ["POST", "/devices/pair", { body: { code: 5, workspace_id: newId() }, token }, 400],
      ["POST", "/devices/pair", { body: { code: "BCDF-BCDF", workspace_id: newId() }, token }, 404],
    ];
    for (const [method, path, options, status] of steps) {
      expectProblem(await fixture.send(method, path, options), status);
    }
    const path = `/workspaces/${fixture.workspaceId}`;
    const stale = { headers: { "if-match": '"stale"' } };
    const edits: [object, number][] = [
      [{ body: { name: 5 } }, 401],
      [{ body: { name: 5 }, token: stranger }, 403],
      [{ body: { name: 5 }, token }, 400],
      [{ body: { name: "New" }, token }, 412],
    ];
    for (const [options, status] of edits) {
      expectProblem(await fixture.send("PATCH", path, { ...stale, ...options }), status);
    }
  });

  it("order of checks: 413 and 415 come before 401", async () => {
    const large = { body: JSON.stringify({ name: "x".repeat(JSON_LIMIT) }) };
    const headers = { "content-type": "application/json" };
    expectProblem(await fixture.send("POST", "/workspaces", { ...large, headers }), 413);
    const csv = { body: "name", headers: { "content-type": "text/csv" } };
    expectProblem(await fixture.send("POST", "/workspaces", csv), 415, "unsupported_media_type");
  });

  it("limits: a body of 1 MiB passes, one byte more is 413; 415 for what is not JSON", async () => {
    const frame = JSON.stringify({ name: "Long", padding: "" }).length;
    const sized = (bytes: number) => ({
      token,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name: "Long", padding: "x".repeat(bytes - frame) }),
    });
    expect((await fixture.send("POST", "/workspaces", sized(JSON_LIMIT))).status).toBe(201);
    const over = await fixture.send("POST", "/workspaces", sized(JSON_LIMIT + 1));
    expectProblem(over, 413, "payload_too_large");
    for (const type of ["text/plain", "application/xml", "application/json; charset=latin1"]) {
      const wrong = { token, body: '{"name": "x"}', headers: { "content-type": type } };
      const answer = await fixture.send("POST", "/workspaces", wrong);
      expectProblem(answer, 415, "unsupported_media_type");
    }
  });

  it("limits: also where no body is taken, too large a one is refused as documented", async () => {
    const headers = { "content-type": "application/json" };
    const body = "x".repeat(JSON_LIMIT + 1);
    const path = `/users/${newId()}/disable`;
    const answer = await fixture.send("POST", path, { token, body, headers });
    expectProblem(answer, 413, "payload_too_large");
  });

  it("lists: limit 1 to 100 (default 50), a cursor to the end, next_cursor null there", async () => {
    for (let made = 0; made < 52; made += 1) await workspace({ name: `W${made}` });
    const page = (query: string) => fixture.done<Page>("GET", `/workspaces${query}`, { token });
    const first = await page("");
    expect(first.items.length).toBe(50);
    const rest = await page(`?cursor=${first.next_cursor}`);
    expect(rest.next_cursor).toBeNull();
    const whole = await page("?limit=100");
    expect(whole.next_cursor).toBeNull();
    expect([...first.items, ...rest.items]).toEqual(whole.items);
    const ids = new Set(whole.items.map(({ id }) => id));
    expect(ids.size).toBe(whole.items.length);
    for (const limit of ["0", "101", "-1", "1.5", "many", ""]) {
      const answer = await fixture.send("GET", `/workspaces?limit=${limit}`, { token });
      expectProblem(answer, 400, "invalid_parameter");
    }
  });

  it("lists: a cursor that was tampered with, or of another list, is 400", async () => {
    const { next_cursor: cursor } = await fixture.done<Page>("GET", "/workspaces?limit=1", {
      token,
    });
    const given = cursor ?? "";
    const other = given.startsWith("A") ? "B" : "A";
    for (const wrong of [other + given.slice(1), given.slice(0, -4), "none", ""]) {
      const answer = await fixture.send("GET", `/workspaces?cursor=${wrong}`, { token });
      expectProblem(answer, 400, "invalid_parameter");
    }
    const elsewhere = await fixture.send("GET", `/sessions?cursor=${given}`, { token });
    expectProblem(elsewhere, 400, "invalid_parameter");
  });

  it("lists: chunks keep their shape, whole without a limit, paged with one", async () => {
    const bytes = (seed: number) => Buffer.alloc(3_200, seed);
    for (const sequence of [0, 1, 2]) {
      expect((await fixture.upload(fixture.sessionId, sequence, bytes(sequence))).status).toBe(201);
    }
    const path = `/sessions/${fixture.sessionId}/chunks`;
    type Listing = { chunks: { chunk_sequence: number }[]; next_cursor?: string | null };
    const read = (query: string) => fixture.done<Listing>("GET", path + query, { token });
    const sequences = ({ chunks }: Listing) => chunks.map((chunk) => chunk.chunk_sequence);
    const whole = await read("");
    expect(whole).not.toHaveProperty("next_cursor");
    expect([sequences(whole), whole]).toEqual([
      [0, 1, 2],
      expect.objectContaining({ total_chunks: 3 }),
    ]);
    const first = await read("?limit=2");
    expect(sequences(first)).toEqual([0, 1]);
    const rest = await read(`?limit=2&cursor=${first.next_cursor}`);
    expect([sequences(rest), rest.next_cursor]).toEqual([[2], null]);
    for (const query of ["?limit=0", "?limit=101", "?cursor=none"]) {
      expectProblem(await fixture.send("GET", path + query, { token }), 400, "invalid_parameter");
    }
  });

  it("Idempotency-Key: the same again gives the first answer, another body 422", async () => {
    const headers = { "idempotency-key": `key-${newId()}` };
    const first = await workspace({ name: "Once" }, headers);
    const again = await workspace({ name: "Once" }, headers);
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expectProblem(await workspace({ name: "Twice" }, headers), 422, "idempotency_mismatch");
    const others = await fixture.send("POST", "/workspaces", {
      token: fixture.stranger.token,
      body: { name: "Once" },
      headers,
    });
    expect([others.status, others.body.id === first.body.id]).toEqual([201, false]);
    const bad = { "idempotency-key": "with space" };
    expectProblem(await workspace({ name: "Once" }, bad), 400, "invalid_parameter");
  });

  it("Idempotency-Key: of many at once one creates, the others wait or get its answer", async () => {
    const headers = { "idempotency-key": `key-${newId()}` };
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => workspace({ name: "Race" }, headers)),
    );
    const made = answers.filter(({ status }) => status === 201);
    expect(new Set(made.map(({ body }) => body.id)).size).toBe(1);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expectProblem(answer, 409, "idempotency_in_progress");
    }
  });

  it("edits: ETag, If-Match on PATCH, PUT and DELETE, 412 when stale", async () => {
    const { body } = await workspace({ name: "Edited" });
    const path = `/workspaces/${body.id}`;
    const read = await fixture.send("GET", path, { token });
    const etag = read.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[^"]+"$/);
    const fetched = await fetch(`${fixture.service.api}${path}`, {
      headers: { authorization: `Bearer ${token}`, "if-none-match": etag },
    });
    expect([fetched.status, await fetched.text()]).toEqual([304, ""]);
    const rename = (name: string, match: string) =>
      fixture.send("PATCH", path, { token, body: { name }, headers: { "if-match": match } });
    const renamed = await rename("Renamed", etag);
    expect(renamed.status).toBe(200);
    expectProblem(await rename("Stale", etag), 412, "precondition_failed");
    const stale = { token, headers: { "if-match": etag } };
    expectProblem(await fixture.send("DELETE", path, stale), 412, "precondition_failed");
    const fresh = { token, headers: { "if-match": renamed.headers.get("etag") ?? "" } };
    expect((await fixture.send("DELETE", path, fresh)).status).toBe(200);
  });

  it("versioning: X-API-Version is 1.0 on every answer, and no path has a version", async () => {
    const answers = await Promise.all([
      fixture.send("GET", "/health"),
      fixture.send("GET", "/auth/me"),
      raw("GET", "/nowhere"),
      raw("GET", "/openapi.json"),
      raw("POST", "/workspaces", { body: "x", headers: { "content-type": "text/csv" } }),
    ]);
    for (const { headers } of answers) expect(headers.get("x-api-version")).toBe("1.0");
    const { body } = await raw("GET", "/openapi.json");
    const { paths, info } = body as { paths: object; info: { version: string } };
    expect(info.version).toBe("1.0");
    // Below /compat the paths are those of other services, which have versions.
    const own = Object.keys(paths).filter((path) => !path.startsWith("/compat/"));
    expect(own.length).toBeGreaterThan(0);
    expect(own.filter((path) => /\/v\d/.test(path))).toEqual([]);
  });
});
