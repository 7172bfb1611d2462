import { once } from "node:events";
import { sql } from "slonik";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { z } from "zod";
import { newId } from "../../src/base/ids.ts";
import { PASSWORD } from "../support/account-fixture.ts";
import { auditLines } from "../support/audit-lines.ts";
import { HttpFixture } from "../support/http-fixture.ts";

const FRESH = "another horse";

describe("users over HTTP", () => {
  let fixture: HttpFixture;
  let admin: { id: string; email: string };
  let adminToken: string;

  beforeAll(async () => {
    fixture = await HttpFixture.open();
    admin = await fixture.accounts.addUser("admin");
    adminToken = await fixture.signIn(admin.email);
  });

  afterAll(() => fixture.close());

  const audit = (id: string) => auditLines(fixture.accounts.pool, id);

  function edit(id: string, body: unknown, bearer = adminToken) {
    return fixture.call("PATCH", `/users/${id}`, { bearer, body });
  }

  it("name: by oneself and by an admin; nobody else's, 404 for nobody", async () => {
    const user = await fixture.accounts.addUser();
    const token = await fixture.signIn(user.email);
    expect((await edit(user.id, { name: " Ada " }, token)).body.name).toBe("Ada");
    expect((await edit(user.id, { name: "Ada L." })).body.name).toBe("Ada L.");
    expect((await edit(admin.id, { name: "x" }, token)).status).toBe(403);
    expect((await edit(newId(), { name: "x" })).status).toBe(404);
    expect((await edit(newId(), { name: "x" }, token)).status).toBe(403);
    expect((await edit(user.id, {}, token)).status).toBe(400);
    expect((await edit(user.id, { role: "king" })).status).toBe(400);
    expect((await fixture.call("PATCH", `/users/${user.id}`, { body: {} })).status).toBe(401);
  });

  it("role: by an admin only, in force at once for tokens given out before, in the audit log", async () => {
    const user = await fixture.accounts.addUser();
    const token = await fixture.signIn(user.email);
    const create = () =>
      fixture.call("POST", "/users", {
        bearer: token,
        body: { email: "a@b.org", password: FRESH },
      });
    expect((await create()).status).toBe(403);
    expect((await edit(user.id, { role: "admin" }, token)).status).toBe(403);
    expect((await edit(user.id, { role: "admin" })).body.role).toBe("admin");
    expect((await create()).status).toBe(201);
    expect((await edit(user.id, { role: "moderator" })).body.role).toBe("moderator");
    expect((await create()).status).toBe(403);
    expect((await edit(user.id, { role: "moderator" })).status).toBe(200);
    expect(await audit(user.id)).toEqual([
      { kind: "user_role_changed", actor: admin.id, detail: { from: "participant", to: "admin" } },
      { kind: "user_role_changed", actor: admin.id, detail: { from: "admin", to: "moderator" } },
    ]);
  });

  it("role: the last active admin stays one, also when two step down at once", async () => {
    const other = await fixture.accounts.addUser("admin");
    const otherToken = await fixture.signIn(other.email);
    const answers = await Promise.all([
      edit(admin.id, { role: "participant" }, adminToken),
      edit(other.id, { role: "participant" }, otherToken),
    ]);
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409]);
    await fixture.accounts.pool.query(sql.unsafe`
      update users set role = case when id = ${admin.id} then 'admin' else 'participant' end
      where id = ${admin.id} or id = ${other.id}`);
    fixture.accounts.revocations.publish({ kind: "user", userId: admin.id });
    expect((await edit(admin.id, { role: "moderator" })).status).toBe(409);
  });

  it("audit: created, disabled and enabled are recorded once each, with who did it", async () => {
    const email = `${newId()}@example.org`;
    const body = { email, password: FRESH, role: "moderator" };
    const made = await fixture.call("POST", "/users", { bearer: adminToken, body });
    const id = String(made.body.id);
    for (const action of ["disable", "disable", "enable", "enable"]) {
      await fixture.call("POST", `/users/${id}/${action}`, { bearer: adminToken });
    }
    const lines = await audit(id);
    expect(lines.map((line) => line.kind)).toEqual([
      "user_created",
      "user_disabled",
      "user_enabled",
    ]);
    expect(lines.every((line) => line.actor === admin.id)).toBe(true);
  });

  it("audit: a failed login once, with the reason and never what was typed", async () => {
    const user = await fixture.accounts.addUser();
    const attempt = (email: string, password: string) =>
      fixture.call("POST", "/auth/login", { body: { email, password } });
    await attempt(user.email, "a wrong horse");
    await fixture.accounts.users.setDisabled(user.id, true);
    await attempt(user.email, PASSWORD);
    await attempt("nobody@example.org", "a wrong horse");
    expect((await audit(user.id)).map(({ kind, detail }) => [kind, detail.reason])).toEqual([
      ["login_failed", "wrong_password"],
      ["login_failed", "account_disabled"],
    ]);
    const rows = await fixture.accounts.pool.any(sql.type(z.object({ detail: z.unknown() }))`
      select detail from audit_log where kind = 'login_failed'`);
    expect(rows).toHaveLength(3);
    expect(JSON.stringify(rows)).not.toMatch(/horse|nobody@/);
  });

  it("password: the new one works, other logins, refresh tokens, sockets and links end; this access token stays", async () => {
    const user = await fixture.accounts.addUser();
    const here = await fixture.accounts.login(user.email, true);
    const there = await fixture.accounts.login(user.email, true);
    const socket = new WebSocket(fixture.liveUrl, {
      headers: { authorization: `Bearer ${there.token}` },
    });
    await once(socket, "open");
    const closed = once(socket, "close", { signal: AbortSignal.timeout(5_000) });
    const changed = await fixture.call("POST", "/auth/password", {
      bearer: here.token,
      body: { current_password: PASSWORD, new_password: FRESH },
    });
    expect(changed.status).toBe(200);
    expect((await closed)[0]).toBe(4401);
    const me = async (bearer: string) => (await fixture.call("GET", "/auth/me", { bearer })).status;
    expect([await me(here.token), await me(there.token)]).toEqual([200, 401]);
    const refresh = async (bearer = "") =>
      (await fixture.call("GET", "/auth/refresh-token", { bearer })).status;
    // Whoever copied a refresh token before does not get in after the change.
    const refreshed = [await refresh(here.refreshToken), await refresh(there.refreshToken)];
    expect(refreshed).toEqual([401, 401]);
    const login = async (password: string) =>
      (await fixture.call("POST", "/auth/login", { body: { email: user.email, password } })).status;
    expect([await login(PASSWORD), await login(FRESH)]).toEqual([401, 200]);
    const kinds = (await audit(user.id)).map((line) => line.kind);
    expect(kinds).toEqual(["password_changed", "login_failed"]);
  });

  it("password: counts exactly as it was typed, with its spaces, letters and end", async () => {
    const email = `${newId()}@example.org`;
    const password = ` Cafe\u0301 \u{1f40e} ${"x".repeat(80)} `;
    const body = { email, password };
    const made = await fixture.call("POST", "/users", { bearer: adminToken, body });
    expect(made.status).toBe(201);
    const login = async (typed: string) =>
      (await fixture.call("POST", "/auth/login", { body: { email, password: typed } })).status;
    const others = [
      ...[password.trim(), password.toLowerCase(), password.normalize("NFC")],
      ...[password.slice(0, 72), `${password.slice(0, -2)}y `],
    ];
    for (const other of others) expect(await login(other), other).toBe(401);
    expect(await login(password)).toBe(200);
  });

  it("password: 401 for a wrong one, 429 after five, 400 for a bad one, 409 without one", async () => {
    const user = await fixture.accounts.addUser();
    const bearer = await fixture.signIn(user.email);
    const change = (current: string, fresh = FRESH) =>
      fixture.call("POST", "/auth/password", {
        bearer,
        body: { current_password: current, new_password: fresh },
      });
    expect((await change(PASSWORD, "short")).status).toBe(400);
    expect((await change(PASSWORD, user.email)).status).toBe(400);
    const wrong = await change("a wrong horse");
    expect([wrong.status, wrong.headers.get("x-error-code")]).toEqual([401, "invalid_credentials"]);
    for (let guess = 0; guess < 4; guess += 1) await change("a wrong horse");
    expect((await change(PASSWORD)).status).toBe(429);
    fixture.accounts.clock.advance(60_000);
    await fixture.accounts.pool.query(
      sql.unsafe`update users set password_hash = null where id = ${user.id}`,
    );
    expect((await change(PASSWORD)).status).toBe(409);
  });

  it("password: of two changes at once one wins", async () => {
    const user = await fixture.accounts.addUser();
    const bearer = await fixture.signIn(user.email);
    const answers = await Promise.all(
      [FRESH, "a third horse"].map((fresh) =>
        fixture.call("POST", "/auth/password", {
          bearer,
          body: { current_password: PASSWORD, new_password: fresh },
        }),
      ),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 401]);
  });

  it("refresh: none without remember_me, and none after a disable", async () => {
    const user = await fixture.accounts.addUser();
    for (const remember_me of [false, undefined]) {
      const body = { email: user.email, password: PASSWORD, remember_me };
      const plain = await fixture.call("POST", "/auth/login", { body });
      expect(plain.body).not.toHaveProperty("refresh_token");
    }
    const { refreshToken } = await fixture.accounts.login(user.email, true);
    await fixture.call("POST", `/users/${user.id}/disable`, { bearer: adminToken });
    await fixture.call("POST", `/users/${user.id}/enable`, { bearer: adminToken });
    const answer = await fixture.call("GET", "/auth/refresh-token", { bearer: refreshToken });
    expect(answer.status).toBe(401);
  });

  it("enabling: lets the user in again whom strangers' guesses hold up", async () => {
    const user = await fixture.accounts.addUser();
    const wrong = () => fixture.accounts.login(user.email, false, "wrong password");
    const guesses = await Promise.allSettled(Array.from({ length: 50 }, wrong));
    expect(guesses.every(({ status }) => status === "rejected")).toBe(true);
    await expect(fixture.accounts.login(user.email)).rejects.toMatchObject({
      code: "rate_limited",
    });
    const path = `/users/${user.id}/enable`;
    expect((await fixture.call("POST", path, { bearer: adminToken })).status).toBe(200);
    await expect(fixture.accounts.login(user.email)).resolves.toHaveProperty("token");
  });
});
