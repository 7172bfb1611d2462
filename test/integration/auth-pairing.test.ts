import { sql } from "slonik";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { newId } from "../../src/base/ids.ts";
import { auditLines } from "../support/audit-lines.ts";
import { HttpFixture } from "../support/http-fixture.ts";

const DAY = 24 * 3_600_000;

describe("pairing over HTTP", () => {
  let fixture: HttpFixture;
  let userToken: string;
  let userId: string;
  let workspaceId: string;

  /** The clock moves on between tests, so that every test has fresh logins and budgets. */
  async function freshUser() {
    const user = await fixture.accounts.addUser();
    userId = user.id;
    userToken = await fixture.signIn(user.email);
    workspaceId = await fixture.accounts.addWorkspace(user.id);
  }

  beforeAll(async () => {
    fixture = await HttpFixture.open();
    await freshUser();
  });

  afterAll(() => fixture.close());

  async function publish(body: Record<string, unknown> = {}) {
    const answer = await fixture.call("POST", "/devices/pairing-codes", {
      body: { device_serial: "SN-1", ...body },
    });
    return { status: answer.status, body: answer.body as Record<string, string> };
  }

  function pair(code: string | undefined, token = userToken) {
    return fixture.call("POST", "/devices/pair", {
      bearer: token,
      body: { code, workspace_id: workspaceId, name: "Table" },
    });
  }

  function claim(secret: string | undefined) {
    return fixture.call("POST", "/devices/pair/claim-auth", { bearer: secret });
  }

  async function status(query: string) {
    const answer = await fixture.call("GET", `/devices/pair/status?${query}`);
    return answer.body.status ?? answer.status;
  }

  it("flow: publish, wait, pair, claim; the key works and is another one each time", async () => {
    const { status: created, body } = await publish();
    expect(created).toBe(201);
    expect(body).toEqual({
      success: true,
      device_id: expect.any(String),
      code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      pairing_secret: expect.stringMatching(/^[0-9A-Za-z]{43}$/),
      expires_at: expect.any(String),
      interval: 5,
    });
    expect(await status(`device_id=${body.device_id}`)).toBe("pending");
    const early = await claim(body.pairing_secret);
    expect(early.status).toBe(409);
    expect(early.headers.get("x-error-code")).toBe("not_paired");

    const paired = await pair(body.code?.toLowerCase().replace("-", ""));
    expect(paired.status).toBe(200);
    expect(paired.body).toMatchObject({
      id: body.device_id,
      device_serial: "SN-1",
      name: "Table",
      status: "paired",
      presence: "offline",
      workspace_id: workspaceId,
      owner_id: userId,
    });
    expect(await status(`code=${body.code}`)).toBe("paired");

    const first = await claim(body.pairing_secret);
    const second = await claim(body.pairing_secret);
    expect(first.status).toBe(200);
    expect(first.body.device_id).toBe(body.device_id);
    expect(first.body.api_key).toMatch(/^vk_dev_[0-9A-Za-z]{38}$/);
    expect(second.body.api_key).not.toBe(first.body.api_key);
    const path = `/devices/${body.device_id}/heartbeat`;
    for (const { body: key } of [first, second]) {
      const beat = await fixture.call("POST", path, { key: String(key.api_key), body: {} });
      expect(beat.status).toBe(200);
    }
  });

  it("keys: the old one lives 24 h beyond a renewal, the new one 30 days", async () => {
    const { body } = await publish();
    await pair(body.code);
    const old = String((await claim(body.pairing_secret)).body.api_key);
    const renewed = await fixture.call("POST", "/devices/pair/claim-auth", { key: old });
    expect(renewed.status).toBe(200);
    const fresh = String(renewed.body.api_key);
    const path = `/devices/${body.device_id}/heartbeat`;
    const beat = async (key: string) => (await fixture.call("POST", path, { key })).status;
    fixture.accounts.clock.advance(DAY - 1_000);
    expect([await beat(old), await beat(fresh)]).toEqual([200, 200]);
    fixture.accounts.clock.advance(2_000);
    expect([await beat(old), await beat(fresh)]).toEqual([401, 200]);
    fixture.accounts.clock.advance(23 * DAY);
    const last = await fixture.call("POST", path, { key: fresh });
    expect(last.body.commands).toEqual([{ type: "renew_key" }]);
    fixture.accounts.clock.advance(7 * DAY);
    expect(await beat(fresh)).toBe(401);
    expect((await claim(body.pairing_secret)).status).toBe(200);
    await freshUser();
  });

  it("codes: expire after 10 min, and are unknown then", async () => {
    const { body } = await publish();
    fixture.accounts.clock.advance(10 * 60_000);
    expect(await status(`device_id=${body.device_id}`)).toBe("expired");
    expect((await pair(body.code)).status).toBe(404);
    expect((await claim(body.pairing_secret)).status).toBe(409);
    await freshUser();
  });

  it("codes: a device's own code is taken, once at a time", async () => {
    const code = newId().slice(-12);
    expect((await publish({ code })).status).toBe(201);
    expect((await publish({ code: code.toUpperCase() })).status).toBe(409);
    expect((await publish({ code: "x" })).status).toBe(400);
    fixture.accounts.clock.advance(10 * 60_000);
    expect((await publish({ code })).status).toBe(201);
    await freshUser();
  });

  it("race: of ten approvals of one code exactly one wins, and no other leaves a key", async () => {
    for (let round = 0; round < 5; round += 1) {
      const { body } = await publish();
      const rivals = await Promise.all(
        Array.from({ length: 10 }, async () => {
          const { email } = await fixture.accounts.addUser("admin");
          return fixture.signIn(email);
        }),
      );
      const answers = await Promise.all(
        rivals.map((bearer, index) =>
          index % 2 === 0
            ? pair(body.code, bearer)
            : fixture.call("POST", "/devices/pair/claim-auth", {
                bearer,
                body: { code: body.code, workspace_id: workspaceId },
              }),
        ),
      );
      const statuses = answers.map((answer) => answer.status).sort();
      expect(statuses).toEqual([200, ...Array(9).fill(409)]);
      const keys = await fixture.accounts.pool.one(sql.type(z.object({ n: z.coerce.number() }))`
        select count(*) as n from device_keys where device_id = ${String(body.device_id)}`);
      const winner = answers.find((answer) => answer.status === 200);
      expect(keys.n).toBe(winner?.body.api_key === undefined ? 0 : 1);
    }
  });

  it("user: pairs and gets the key in one step", async () => {
    const { body } = await publish();
    const answer = await fixture.call("POST", "/devices/pair/claim-auth", {
      bearer: userToken,
      body: { code: body.code, workspace_id: workspaceId },
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      device_id: body.device_id,
      api_key: expect.any(String),
      expires_at: expect.any(String),
    });
    const missing = await fixture.call("POST", "/devices/pair/claim-auth", { bearer: userToken });
    expect(missing.status).toBe(400);
  });

  it("refusals: 401 without proof, 403 outside the workspace, 404 for unknown things", async () => {
    expect((await fixture.call("POST", "/devices/pair/claim-auth")).status).toBe(401);
    expect((await claim("A".repeat(43))).status).toBe(401);
    expect((await claim("not.a.token")).status).toBe(401);
    const { body } = await publish();
    const stranger = await fixture.signIn((await fixture.accounts.addUser()).email);
    expect((await pair(body.code, stranger)).status).toBe(403);
    expect((await pair("BBBB-BBBB")).status).toBe(404);
    const nowhere = { code: body.code, workspace_id: newId() };
    const lost = await fixture.call("POST", "/devices/pair", { bearer: userToken, body: nowhere });
    expect(lost.status).toBe(404);
    expect((await fixture.call("GET", "/devices/pair/status")).status).toBe(400);
    expect(await status(`device_id=${newId()}`)).toBe(404);
    expect(await status("device_id=nonsense")).toBe(404);
  });

  it("guessing: ten wrong codes of one account, then 429; another account still pairs", async () => {
    const guesser = await fixture.accounts.addUser("admin");
    const token = await fixture.signIn(guesser.email);
    const statuses: number[] = [];
    for (let guess = 0; guess < 12; guess += 1) {
      statuses.push((await pair("ZZZZ-ZZZZ", token)).status);
    }
    expect(statuses).toEqual([...Array(10).fill(404), 429, 429]);
    const { body } = await publish();
    expect((await pair(body.code, token)).status).toBe(429);
    expect((await pair(body.code)).status).toBe(200);
    fixture.accounts.clock.advance(3_600_000);
    await freshUser();
  });

  it("polling: faster than the interval while pending is slow_down, in its time it is not", async () => {
    const { body } = await publish();
    const poll = async () => (await claim(body.pairing_secret)).headers;
    expect((await poll()).get("x-error-code")).toBe("not_paired");
    const slowDown = await poll();
    expect(slowDown.get("x-error-code")).toBe("slow_down");
    expect(slowDown.get("retry-after")).toBe("5");
    fixture.accounts.clock.advance(4_000);
    expect((await poll()).get("x-error-code")).toBe("slow_down");
    for (let turn = 0; turn < 5; turn += 1) {
      fixture.accounts.clock.advance(turn === 0 ? 1_000 : 5_000);
      expect((await poll()).get("x-error-code")).toBe("not_paired");
    }
    await pair(body.code);
    expect((await claim(body.pairing_secret)).status).toBe(200);
  });

  it("unpair: keys and secret end at once; the status says revoked", async () => {
    const { body } = await publish();
    await pair(body.code);
    const key = String((await claim(body.pairing_secret)).body.api_key);
    const path = `/devices/${body.device_id}`;
    expect((await fixture.call("POST", `${path}/heartbeat`, { key })).status).toBe(200);
    expect((await fixture.call("DELETE", path, { bearer: userToken })).status).toBe(200);
    expect((await fixture.call("POST", `${path}/heartbeat`, { key })).status).toBe(401);
    expect((await claim(body.pairing_secret)).status).toBe(401);
    expect(await status(`device_id=${body.device_id}`)).toBe("revoked");
  });

  it("audit: each key that is issued is on record, and the end of them all", async () => {
    const { body } = await publish();
    const id = String(body.device_id);
    await pair(body.code);
    await claim(body.pairing_secret);
    for (const _twice of [1, 2])
      await fixture.call("DELETE", `/devices/${id}`, { bearer: userToken });
    const virtual = await fixture.call("POST", "/devices", {
      bearer: userToken,
      body: { workspace_id: workspaceId, name: "Browser" },
    });
    const issued = { kind: "device_key_issued", detail: { key_id: expect.any(String) } };
    expect(await auditLines(fixture.accounts.pool, id)).toMatchObject([
      { ...issued, actor: id },
      { kind: "device_unpaired", actor: userId },
    ]);
    expect(await auditLines(fixture.accounts.pool, String(virtual.body.device_id))).toMatchObject([
      { ...issued, actor: userId },
    ]);
  });

  it("virtual device: made with its key; heartbeat keeps telemetry and presence", async () => {
    const made = await fixture.call("POST", "/devices", {
      bearer: userToken,
      body: { workspace_id: workspaceId, name: "Browser" },
    });
    expect(made.status).toBe(201);
    const key = String(made.body.api_key);
    const path = `/devices/${made.body.device_id}`;
    const body = { battery_percent: 80, recording: true, disk_free: 12, firmware: "2.1" };
    const beat = await fixture.call("POST", `${path}/heartbeat`, { key, body });
    expect(beat.body).toEqual({
      success: true,
      server_time: expect.any(String),
      commands: [{ type: "stop_recording" }],
    });
    await fixture.accounts.seenAtItsTime(String(made.body.device_id));
    const device = await fixture.call("GET", path, { bearer: userToken });
    expect(device.body).toMatchObject({
      firmware: "2.1",
      telemetry: body,
      status: "paired",
      presence: "online",
    });
    fixture.accounts.clock.advance(90_000);
    const later = await fixture.call("GET", path, { bearer: userToken });
    expect(later.body.presence).toBe("offline");
    const listed = await fixture.call("GET", "/devices", { bearer: userToken });
    expect(listed.body.items).toContainEqual(later.body);
    const named = { bearer: userToken, body: { name: "Desk" } };
    expect((await fixture.call("PATCH", path, named)).body.name).toBe("Desk");
  });

  it("virtual device: its owner gets a fresh key for it; nobody else, and for no hardware", async () => {
    const made = await fixture.call("POST", "/devices", {
      bearer: userToken,
      body: { workspace_id: workspaceId, name: "Browser" },
    });
    const id = String(made.body.device_id);
    const ask = (bearer: string, device_id: string) =>
      fixture.call("POST", "/devices/pair/claim-auth", { bearer, body: { device_id } });
    const fresh = await ask(userToken, id);
    expect([fresh.status, fresh.body.device_id]).toEqual([200, id]);
    const beat = (key: unknown) =>
      fixture.call("POST", `/devices/${id}/heartbeat`, { key: String(key) });
    expect([
      (await beat(fresh.body.api_key)).status,
      (await beat(made.body.api_key)).status,
    ]).toEqual([200, 200]);
    const issued = { kind: "device_key_issued", actor: userId };
    expect(await auditLines(fixture.accounts.pool, id)).toMatchObject([issued, issued]);
    const stranger = await fixture.signIn((await fixture.accounts.addUser()).email);
    expect((await ask(stranger, id)).status).toBe(404);
    const { body: hardware } = await publish();
    await pair(hardware.code);
    expect((await ask(userToken, String(hardware.device_id))).status).toBe(404);
    expect((await ask(userToken, "nonsense")).status).toBe(404);
    await fixture.call("DELETE", `/devices/${id}`, { bearer: userToken });
    expect((await ask(userToken, id)).status).toBe(404);
  });

  it("heartbeat: 401 to a user's token, 403 to another device's key, 404, 400", async () => {
    const make = () =>
      fixture.call("POST", "/devices", { bearer: userToken, body: { workspace_id: workspaceId } });
    const [one, two] = await Promise.all([make(), make()]);
    const path = (id: unknown) => `/devices/${id}/heartbeat`;
    const key = String(one.body.api_key);
    const own = path(one.body.device_id);
    expect((await fixture.call("POST", own, { bearer: userToken })).status).toBe(401);
    expect((await fixture.call("POST", own)).status).toBe(401);
    expect((await fixture.call("POST", path(two.body.device_id), { key })).status).toBe(403);
    expect((await fixture.call("POST", path(newId()), { key })).status).toBe(404);
    const bad = { key, body: { battery_percent: "full" } };
    expect((await fixture.call("POST", own, bad)).status).toBe(400);
    expect((await fixture.call("GET", "/auth/me", { key })).status).toBe(401);
    const stranger = await fixture.signIn((await fixture.accounts.addUser()).email);
    const device = `/devices/${one.body.device_id}`;
    expect((await fixture.call("GET", device, { bearer: stranger })).status).toBe(403);
    expect((await fixture.call("DELETE", device, { bearer: stranger })).status).toBe(403);
  });

  it("owner: a device stops working while the user who paired it is disabled", async () => {
    const made = await fixture.call("POST", "/devices", {
      bearer: userToken,
      body: { workspace_id: workspaceId },
    });
    const key = String(made.body.api_key);
    const beat = () => fixture.call("POST", `/devices/${made.body.device_id}/heartbeat`, { key });
    expect((await beat()).status).toBe(200);
    await fixture.accounts.users.setDisabled(userId, true);
    fixture.accounts.revocations.publish({ kind: "user", userId });
    const refused = await beat();
    expect([refused.status, refused.headers.get("x-error-code")]).toEqual([403, "key_suspended"]);
    await fixture.accounts.users.setDisabled(userId, false);
    fixture.accounts.revocations.publish({ kind: "user", userId });
    expect((await beat()).status).toBe(200);
    await freshUser();
  });

  it("audit: every key that is issued, by whom, and the unpairing, once", async () => {
    const { body } = await publish();
    const deviceId = String(body.device_id);
    const code = { code: body.code, workspace_id: workspaceId };
    const claimed = await fixture.call("POST", "/devices/pair/claim-auth", {
      bearer: userToken,
      body: code,
    });
    await claim(body.pairing_secret);
    await fixture.call("POST", "/devices/pair/claim-auth", { key: String(claimed.body.api_key) });
    const path = `/devices/${deviceId}`;
    await fixture.call("DELETE", path, { bearer: userToken });
    await fixture.call("DELETE", path, { bearer: userToken });
    const lines = await auditLines(fixture.accounts.pool, deviceId);
    expect(lines.map(({ kind, actor }) => [kind, actor])).toEqual([
      ["device_key_issued", userId],
      ["device_key_issued", deviceId],
      ["device_key_issued", deviceId],
      ["device_unpaired", userId],
    ]);
    expect(JSON.stringify(lines)).not.toContain("vk_dev_");
  });
});
