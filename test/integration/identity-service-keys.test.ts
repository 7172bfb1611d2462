import { once } from "node:events";
import { sql } from "slonik";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { z } from "zod";
import { newId } from "../../src/base/ids.ts";
import { HttpFixture } from "../support/http-fixture.ts";

const DAY = 24 * 3_600_000;
const YEAR = 365 * DAY;
const SOON_MS = 5_000;

describe("service keys over HTTP", () => {
  let fixture: HttpFixture;
  let owner: { id: string; token: string };
  let workspaceId: string;
  let sessionId: string;
  let foreignSession: string;

  beforeAll(async () => {
    fixture = await HttpFixture.open();
    owner = await person();
    const other = await person();
    workspaceId = await fixture.accounts.addWorkspace(owner.id);
    sessionId = await fixture.accounts.addSession(owner.id, workspaceId);
    const elsewhere = await fixture.accounts.addWorkspace(other.id);
    foreignSession = await fixture.accounts.addSession(other.id, elsewhere);
  });

  afterAll(() => fixture.close());

  async function person(role: "admin" | "participant" = "participant") {
    const { id, email } = await fixture.accounts.addUser(role);
    return { id, token: await fixture.signIn(email) };
  }

  function create(body: Record<string, unknown> = {}, bearer = owner.token) {
    const wanted = { workspace_id: workspaceId, name: "Export", scopes: ["sessions:read"] };
    return fixture.call("POST", "/api-keys", { bearer, body: { ...wanted, ...body } });
  }

  async function newKey(...scopes: string[]): Promise<{ id: string; key: string }> {
    const { body } = await create(scopes.length === 0 ? {} : { scopes });
    return { id: String(body.id), key: String(body.key) };
  }

  async function auditOf(subjectId: string): Promise<string[]> {
    const rows = await fixture.accounts.pool.any(sql.type(z.object({ kind: z.string() }))`
      select kind from audit_log where subject_id = ${subjectId} order by seq`);
    return rows.map((row) => row.kind);
  }

  it("create: shown once with prefix and a year to live; listed and read without the key", async () => {
    const made = await create();
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      id: expect.any(String),
      workspace_id: workspaceId,
      name: "Export",
      scopes: ["sessions:read"],
      prefix: expect.stringMatching(/^vk_svc_[0-9A-Za-z]{6}$/),
      status: "active",
      created_by: owner.id,
      created_at: expect.any(String),
      expires_at: expect.any(String),
      key: expect.stringMatching(/^vk_svc_[0-9A-Za-z]{38}$/),
    });
    expect(String(made.body.key).startsWith(String(made.body.prefix))).toBe(true);
    const lives = Date.parse(String(made.body.expires_at)) - fixture.accounts.clock.now();
    expect(Math.abs(lives - YEAR)).toBeLessThan(1_000);
    const { key: _secret, ...shown } = made.body;
    const path = `/api-keys/${made.body.id}`;
    expect((await fixture.call("GET", path, { bearer: owner.token })).body).toEqual(shown);
    const listed = await fixture.call("GET", "/api-keys", { bearer: owner.token });
    expect(listed.body.items).toContainEqual(shown);
    expect(await auditOf(String(made.body.id))).toEqual(["service_key_issued"]);
  });

  it("at rest: no more of a key than its prefix", async () => {
    const { key } = await newKey();
    const { rows } = await fixture.accounts.pool.query(sql.unsafe`
      select k::text || s::text as line
      from service_keys k join service_key_secrets s on s.key_id = k.id`);
    const text = (rows as { line: string }[]).map((row) => row.line).join("\n");
    expect(text).not.toContain(key);
    expect(text).not.toContain(key.slice(14));
  });

  it("create: 401, 403 for a member and a stranger, 404, 400; an admin is no owner", async () => {
    const member = await person();
    await fixture.accounts.join(workspaceId, member.id);
    const admin = await person("admin");
    expect((await fixture.call("POST", "/api-keys", { body: {} })).status).toBe(401);
    expect((await create({}, member.token)).status).toBe(403);
    expect((await create({}, (await person()).token)).status).toBe(403);
    expect((await create({ workspace_id: newId() })).status).toBe(404);
    expect((await create({ workspace_id: "nonsense" })).status).toBe(404);
    const tooLate = new Date(fixture.accounts.clock.now() + 2 * YEAR + DAY).toISOString();
    for (const bad of [
      { name: " " },
      { scopes: [] },
      { scopes: ["everything"] },
      { expires_at: "tomorrow" },
      { expires_at: "2020-01-01T00:00:00.000Z" },
      { expires_at: tooLate },
    ]) {
      expect((await create(bad)).status, JSON.stringify(bad)).toBe(400);
    }
    // A key would open every session of the workspace without an elevation.
    expect((await create({}, admin.token)).status).toBe(403);
  });

  it("manage: only owners and admins see and revoke, owners rotate; lists hold what one owns", async () => {
    const { id } = await newKey();
    const stranger = (await person()).token;
    for (const [method, path] of [
      ["GET", `/api-keys/${id}`],
      ["POST", `/api-keys/${id}/rotate`],
      ["DELETE", `/api-keys/${id}`],
      ["GET", `/api-keys?workspace_id=${workspaceId}`],
    ] as const) {
      expect((await fixture.call(method, path, { bearer: stranger })).status, path).toBe(403);
    }
    const unknown = `/api-keys/${newId()}`;
    expect((await fixture.call("GET", unknown, { bearer: owner.token })).status).toBe(404);
    const none = await fixture.call("GET", "/api-keys", { bearer: stranger });
    expect(none.body.items).toEqual([]);
    const admin = (await person("admin")).token;
    const all = await fixture.call("GET", "/api-keys?limit=100", { bearer: admin });
    expect((all.body.items as { id: string }[]).map((item) => item.id)).toContain(id);
    const rotated = await fixture.call("POST", `/api-keys/${id}/rotate`, { bearer: admin });
    expect(rotated.status).toBe(403);
    expect((await fixture.call("DELETE", `/api-keys/${id}`, { bearer: admin })).status).toBe(200);
  });

  it("read: sessions of its workspace and no others; nothing that its scopes do not name", async () => {
    const { key } = await newKey("sessions:read");
    const get = async (path: string) => (await fixture.call("GET", path, { key })).status;
    const listed = await fixture.call("GET", "/sessions", { key });
    expect((listed.body.items as { id: string }[]).map((item) => item.id)).toEqual([sessionId]);
    for (const part of ["", "/transcript", "/segments", "/chunks", "/speakers"]) {
      expect(await get(`/sessions/${sessionId}${part}`), part).toBe(200);
      expect(await get(`/sessions/${foreignSession}${part}`), part).toBe(404);
    }
    expect(await get(`/sessions/${sessionId}/transcript?format=vtt`)).toBe(403);
    const edit = { key, body: { title: "Named by a key" } };
    expect((await fixture.call("PATCH", `/sessions/${sessionId}`, edit)).status).toBe(403);
    const workspaces = await fixture.call("GET", "/workspaces", { key });
    expect(workspaces.body.items).toMatchObject([{ id: workspaceId }]);
    expect(await get(`/workspaces/${workspaceId}`)).toBe(200);
    const used = await fixture.call("GET", "/api-keys", { bearer: owner.token });
    const times = (used.body.items as { last_used_at?: string }[]).map((item) => item.last_used_at);
    expect(times.filter((time) => time !== undefined)).toHaveLength(1);
  });

  it("scopes: write edits, export fetches files, and neither reads", async () => {
    const writer = await newKey("sessions:write");
    const edit = { key: writer.key, body: { title: "Named by a key" } };
    const edited = await fixture.call("PATCH", `/sessions/${sessionId}`, edit);
    expect(edited.body.title).toBe("Named by a key");
    const path = `/sessions/${sessionId}`;
    const refused = await fixture.call("GET", path, { key: writer.key });
    expect(refused.status).toBe(403);
    expect(refused.body.message).toBe("This key lacks the scope sessions:read.");
    expect((await fixture.call("GET", "/workspaces", { key: writer.key })).status).toBe(403);
    const exporter = await newKey("export");
    const transcript = `${path}/transcript`;
    const file = await fetch(`${fixture.url}${transcript}?format=srt`, {
      headers: { "x-api-key": exporter.key },
    });
    expect(file.status).toBe(200);
    expect((await fixture.call("GET", transcript, { key: exporter.key })).status).toBe(403);
  });

  it("elsewhere: 401 where a person or a device is needed, and for keys that are none", async () => {
    const { key } = await newKey();
    expect((await fixture.call("GET", "/auth/me", { key })).status).toBe(401);
    expect((await fixture.call("GET", "/api-keys", { key })).status).toBe(401);
    const beat = await fixture.call("POST", `/devices/${newId()}/heartbeat`, { key });
    expect(beat.status).toBe(401);
    expect(beat.headers.get("x-error-code")).toBe("invalid_api_key");
    const typo = key.slice(0, -1) + (key.endsWith("a") ? "b" : "a");
    for (const wrong of [typo, "vk_svc_", "nonsense"]) {
      const answer = await fixture.call("GET", "/sessions", { key: wrong });
      expect([answer.status, answer.headers.get("x-error-code")]).toEqual([401, "invalid_api_key"]);
    }
    const made = await fixture.call("POST", "/devices", {
      bearer: owner.token,
      body: { workspace_id: workspaceId },
    });
    const device = await fixture.call("GET", "/sessions", { key: String(made.body.api_key) });
    expect(device.status).toBe(401);
  });

  it("rotate: another secret for as long, the old one 24 h more, the one before that at once", async () => {
    const { id, key } = await newKey();
    const works = async (secret: string) =>
      (await fixture.call("GET", "/sessions", { key: secret })).status;
    const rotate = () => fixture.call("POST", `/api-keys/${id}/rotate`, { bearer: owner.token });
    expect(await works(key)).toBe(200);
    const once = await rotate();
    expect(once.status).toBe(201);
    expect(once.body.id).toBe(id);
    expect([await works(key), await works(String(once.body.key))]).toEqual([200, 200]);
    const twice = await rotate();
    expect([await works(key), await works(String(once.body.key))]).toEqual([401, 200]);
    fixture.accounts.clock.advance(DAY + 1);
    const secrets = [String(once.body.key), String(twice.body.key)];
    expect([await works(secrets[0] ?? ""), await works(secrets[1] ?? "")]).toEqual([401, 200]);
    expect(await auditOf(id)).toEqual([
      "service_key_issued",
      "service_key_rotated",
      "service_key_rotated",
    ]);
    fixture.accounts.clock.advance(YEAR);
    expect(await works(secrets[1] ?? "")).toBe(401);
    owner = { id: owner.id, token: await fixture.signIn(await addressOf(owner.id)) };
  });

  async function addressOf(userId: string): Promise<string> {
    return (await fixture.accounts.users.find(userId))?.email ?? "";
  }

  it("revoke: refused at once, gone from the list, and its open socket closes with 4401", async () => {
    const { id, key } = await newKey();
    expect((await fixture.call("GET", "/sessions", { key })).status).toBe(200);
    const socket = new WebSocket(fixture.liveUrl, { headers: { "x-api-key": key } });
    await once(socket, "open");
    const closed = once(socket, "close", { signal: AbortSignal.timeout(SOON_MS) });
    const path = `/api-keys/${id}`;
    expect((await fixture.call("DELETE", path, { bearer: owner.token })).status).toBe(200);
    expect((await closed)[0]).toBe(4401);
    expect((await fixture.call("GET", "/sessions", { key })).status).toBe(401);
    expect((await fixture.call("DELETE", path, { bearer: owner.token })).status).toBe(404);
    expect((await fixture.call("GET", path, { bearer: owner.token })).status).toBe(404);
    expect(await auditOf(id)).toEqual(["service_key_issued", "service_key_revoked"]);
  });

  it("ticket: a key opens a socket through a ticket too", async () => {
    const { key } = await newKey();
    const issued = await fixture.call("POST", "/auth/live-ticket", { key });
    expect(issued.status).toBe(201);
    const socket = new WebSocket(`${fixture.liveUrl}?ticket=${issued.body.ticket}`);
    await once(socket, "open");
    socket.close();
  });
});
