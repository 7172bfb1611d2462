import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { PASSWORD } from "../support/account-fixture.ts";
import { HttpFixture } from "../support/http-fixture.ts";

describe("accounts over HTTP", () => {
  let fixture: HttpFixture;
  let admin: { id: string; email: string };
  let user: { id: string; email: string };
  let adminToken: string;
  let userToken: string;
  let workspaceId: string;

  beforeAll(async () => {
    fixture = await HttpFixture.open();
    admin = await fixture.accounts.addUser("admin");
    user = await fixture.accounts.addUser();
    adminToken = await fixture.signIn(admin.email);
    userToken = await fixture.signIn(user.email);
    workspaceId = await fixture.accounts.addWorkspace(user.id);
  });

  afterAll(() => fixture.close());

  it("login: answers token and user, and a refresh token only when asked to remember", async () => {
    const { email } = user;
    const body = { email: email.toUpperCase(), password: PASSWORD };
    const plain = await fixture.call("POST", "/auth/login", { body });
    expect(plain.status).toBe(200);
    expect(plain.body).toEqual({
      token: expect.any(String),
      user: { id: user.id, email, role: "participant" },
    });
    const remembered = await fixture.call("POST", "/auth/login", {
      body: { ...body, remember_me: true },
    });
    const refresh = String(remembered.body.refresh_token);
    const fresh = await fixture.call("GET", "/auth/refresh-token", { bearer: refresh });
    expect(fresh.status).toBe(200);
    expect(fresh.headers.get("cache-control")).toBe("no-store");
    const me = await fixture.call("GET", "/auth/me", { bearer: String(fresh.body.token) });
    expect(me.body).toMatchObject({ id: user.id, email, role: "participant" });
  });

  it("login: a page's refresh token is a cookie of the sign-in's addresses alone, until logout", async () => {
    const body = { email: user.email, password: PASSWORD, remember_me: true, refresh_cookie: true };
    const login = await fixture.call("POST", "/auth/login", { body });
    expect(login.body).toEqual({ token: expect.any(String), user: expect.anything() });
    const [set = "", ...others] = login.headers.getSetCookie();
    expect(others).toEqual([]);
    const flags =
      /^(__Secure-voice-refresh=[^;]+); Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/;
    const cookie = flags.exec(set)?.[1] ?? "";
    const bearer = String(login.body.token);
    // A cookie among others opens this one address, and no other.
    const headers = { cookie: `other=1; ${cookie}` };
    const fresh = await fixture.call("GET", "/auth/refresh-token", { headers });
    expect(fresh.status).toBe(200);
    expect(fresh.headers.get("vary")).toContain("Cookie");
    expect((await fixture.call("GET", "/auth/me", { headers })).status).toBe(401);
    const me = await fixture.call("GET", "/auth/me", { bearer: String(fresh.body.token) });
    expect(me.body).toMatchObject({ id: user.id });
    const logout = await fixture.call("POST", "/auth/logout", { bearer, headers });
    expect(logout.headers.getSetCookie()[0]).toMatch(/^__Secure-voice-refresh=; Max-Age=0; /);
    expect((await fixture.call("GET", "/auth/refresh-token", { headers })).status).toBe(401);
    for (const nothing of ["__Secure-voice-refresh=", "__Secure-voice-refresh=x", "other=1"]) {
      const refused = await fixture.call("GET", "/auth/refresh-token", {
        headers: { cookie: nothing },
      });
      expect(refused.status).toBe(401);
    }
  });

  it("login: no cookie without being asked to remember", async () => {
    const body = { email: user.email, password: PASSWORD, refresh_cookie: true };
    const login = await fixture.call("POST", "/auth/login", { body });
    expect(login.status).toBe(200);
    expect(login.headers.getSetCookie()).toEqual([]);
  });

  it("login: says the same to an unknown address, a wrong password and a disabled user", async () => {
    const disabled = await fixture.accounts.addUser();
    await fixture.accounts.users.setDisabled(disabled.id, true);
    const answers = await Promise.all(
      [
        { email: "nobody@example.org", password: PASSWORD },
        { email: user.email, password: "wrong password" },
        { email: disabled.email, password: PASSWORD },
      ].map((body) => fixture.call("POST", "/auth/login", { body })),
    );
    for (const answer of answers) {
      expect(answer.status).toBe(401);
      expect(answer.headers.get("x-error-code")).toBe("invalid_credentials");
      expect(answer.body).toEqual(answers[0]?.body);
    }
  });

  it("login: 400 for a body that is not one", async () => {
    const answer = await fixture.call("POST", "/auth/login", { body: { email: 7 } });
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ success: false, message: expect.any(String) });
  });

  it("login: 429 after too many guesses for one account, other accounts are not touched", async () => {
    const victim = await fixture.accounts.addUser();
    const guess = { body: { email: victim.email, password: "wrong password" } };
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 12; attempt += 1) {
      statuses.push((await fixture.call("POST", "/auth/login", guess)).status);
    }
    expect(statuses.slice(0, 10)).toEqual(Array(10).fill(401));
    const refused = await fixture.call("POST", "/auth/login", guess);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    const other = { body: { email: user.email, password: PASSWORD } };
    expect((await fixture.call("POST", "/auth/login", other)).status).toBe(200);
  });

  it("logout: ends the access and refresh token at once", async () => {
    const { token, refreshToken } = await fixture.accounts.login(user.email, true);
    expect((await fixture.call("GET", "/auth/me", { bearer: token })).status).toBe(200);
    expect((await fixture.call("POST", "/auth/logout", { bearer: token })).status).toBe(200);
    expect((await fixture.call("GET", "/auth/me", { bearer: token })).status).toBe(401);
    const refresh = await fixture.call("GET", "/auth/refresh-token", { bearer: refreshToken });
    expect(refresh.status).toBe(401);
  });

  it("jwks: shows public keys only", async () => {
    const { body } = await fixture.call("GET", "/auth/jwks.json");
    expect(JSON.stringify(body)).not.toContain('"d"');
    expect(body.keys).toHaveLength(1);
  });

  it("users: an admin creates one, who can sign in; a second of that address is 409", async () => {
    const body = { email: "New@Example.org", name: "New", password: "long enough" };
    const created = await fixture.call("POST", "/users", { bearer: adminToken, body });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({
      email: "new@example.org",
      role: "participant",
      disabled: false,
    });
    expect(created.body).not.toHaveProperty("disabled_at");
    const again = { bearer: adminToken, body: { ...body, email: "new@example.org" } };
    expect((await fixture.call("POST", "/users", again)).status).toBe(409);
    const login = { body: { email: "new@example.org", password: body.password } };
    expect((await fixture.call("POST", "/auth/login", login)).status).toBe(200);
  });

  it("users: 401, 403 and 400 in this order", async () => {
    expect((await fixture.call("POST", "/users", { body: {} })).status).toBe(401);
    expect((await fixture.call("POST", "/users", { bearer: userToken, body: {} })).status).toBe(
      403,
    );
    expect((await fixture.call("POST", "/users", { bearer: adminToken, body: {} })).status).toBe(
      400,
    );
    const short = { email: "a@b.org", password: "short" };
    const refused = await fixture.call("POST", "/users", { bearer: adminToken, body: short });
    expect(refused.status).toBe(400);
  });

  it("users: members of a workspace see each other's id, address and name only", async () => {
    const path = `/users?workspace_id=${workspaceId}`;
    const listed = await fixture.call("GET", path, { bearer: userToken });
    expect(listed.body).toEqual({
      items: [{ id: user.id, email: user.email, name: "Somebody" }],
      next_cursor: null,
    });
    const stranger = await fixture.signIn((await fixture.accounts.addUser()).email);
    expect((await fixture.call("GET", path, { bearer: stranger })).status).toBe(403);
    expect((await fixture.call("GET", "/users", { bearer: userToken })).status).toBe(403);
    const unknown = `/users?workspace_id=${newId()}`;
    expect((await fixture.call("GET", unknown, { bearer: userToken })).status).toBe(404);
  });

  it("users: pages follow each other without a gap, and a made-up cursor is 400", async () => {
    const seen: unknown[] = [];
    let path = "/users?limit=2";
    for (let page = 0; page < 50; page += 1) {
      const { body } = await fixture.call("GET", path, { bearer: adminToken });
      seen.push(...(body.items as { id: string }[]).map((item) => item.id));
      if (body.next_cursor === null) break;
      path = `/users?limit=2&cursor=${body.next_cursor}`;
    }
    const all = await fixture.call("GET", "/users?limit=100", { bearer: adminToken });
    expect(seen).toEqual((all.body.items as { id: string }[]).map((item) => item.id));
    const forged = await fixture.call("GET", "/users?cursor=abcd", { bearer: adminToken });
    expect(forged.status).toBe(400);
  });

  it("disable: refused at once everywhere, idempotent, not oneself, and enable lets back in", async () => {
    const victim = await fixture.accounts.addUser();
    const { token, refreshToken } = await fixture.accounts.login(victim.email, true);
    expect((await fixture.call("GET", "/auth/me", { bearer: token })).status).toBe(200);
    const disable = () =>
      fixture.call("POST", `/users/${victim.id}/disable`, { bearer: adminToken });
    expect((await disable()).body).toEqual({ success: true, message: expect.any(String) });
    expect((await disable()).status).toBe(200);
    expect((await fixture.call("GET", "/auth/me", { bearer: token })).status).toBe(401);
    const refresh = { bearer: refreshToken };
    expect((await fixture.call("GET", "/auth/refresh-token", refresh)).status).toBe(401);
    const enabled = await fixture.call("POST", `/users/${victim.id}/enable`, {
      bearer: adminToken,
    });
    expect(enabled.status).toBe(200);
    expect((await fixture.call("GET", "/auth/me", { bearer: token })).status).toBe(401);
    const login = { body: { email: victim.email, password: PASSWORD } };
    expect((await fixture.call("POST", "/auth/login", login)).status).toBe(200);
  });

  it("disable: 401, 403, 404, 400", async () => {
    const path = (id: string) => `/users/${id}/disable`;
    expect((await fixture.call("POST", path(user.id))).status).toBe(401);
    expect((await fixture.call("POST", path(newId()), { bearer: userToken })).status).toBe(403);
    expect((await fixture.call("POST", path(newId()), { bearer: adminToken })).status).toBe(404);
    expect((await fixture.call("POST", path("nonsense"), { bearer: adminToken })).status).toBe(404);
    expect((await fixture.call("POST", path(admin.id), { bearer: adminToken })).status).toBe(400);
  });

  it("workspaces: created private with the caller as owner; language canonical, default en", async () => {
    const body = { name: "Research", preferred_language: "pt-br", unknown: 1 };
    const created = await fixture.call("POST", "/workspaces", { bearer: userToken, body });
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: "Research",
      workspace_type: "private",
      preferred_language: "pt-BR",
      // What the workspace may do with sound and text, and the words that it expects.
      remote_engines: false,
      remote_text: false,
      automatic_notes: true,
      notes_template: "general",
      vocabulary: [],
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: expect.any(String),
    });
    const path = `/workspaces/${created.body.id}`;
    const seen = (await fixture.call("GET", path, { bearer: userToken })).body;
    expect(seen).toEqual({ ...created.body, usage: seen.usage });
    expect(seen.usage).toMatchObject({ devices: { used: 0 }, webhooks: { used: 0 } });
    const stranger = await fixture.signIn((await fixture.accounts.addUser()).email);
    expect((await fixture.call("GET", path, { bearer: stranger })).status).toBe(403);
    expect((await fixture.call("GET", path, { bearer: adminToken })).status).toBe(200);
    const plain = { bearer: userToken, body: { name: "Plain" } };
    const made = await fixture.call("POST", "/workspaces", plain);
    expect(made.body.preferred_language).toBe("en");
    const odd = { bearer: userToken, body: { name: "Odd", preferred_language: "not a tag" } };
    expect((await fixture.call("POST", "/workspaces", odd)).status).toBe(400);
    const nameless = { bearer: userToken, body: { name: "  " } };
    expect((await fixture.call("POST", "/workspaces", nameless)).status).toBe(400);
  });

  it("workspaces: an administrator sees those of others only when asking for all", async () => {
    const others = await fixture.accounts.addWorkspace(user.id);
    const own = await fixture.accounts.addWorkspace(admin.id);
    const listed = async (bearer: string, query = "") => {
      const ids: string[] = [];
      for (let cursor = ""; ; ) {
        const path = `/workspaces?limit=100${query}${cursor}`;
        const { status, body } = await fixture.call("GET", path, { bearer });
        if (status !== 200) return status;
        ids.push(...(body.items as { id: string }[]).map(({ id }) => id));
        if (body.next_cursor === null) return ids;
        cursor = `&cursor=${body.next_cursor}`;
      }
    };
    for (const query of ["", "&scope=member"]) {
      expect(await listed(adminToken, query)).toContain(own);
      expect(await listed(adminToken, query)).not.toContain(others);
    }
    expect(await listed(adminToken, "&scope=all")).toEqual(expect.arrayContaining([own, others]));
    expect(await listed(userToken, "&scope=all")).toBe(403);
    expect(await listed(userToken, "&scope=mine")).toBe(400);
    const path = `/workspaces/${others}`;
    expect((await fixture.call("GET", path, { bearer: adminToken })).status).toBe(200);
  });

  it("members: invited by address, listed, removed; the last owner stays", async () => {
    const own = await fixture.accounts.addWorkspace(user.id);
    const guest = await fixture.accounts.addUser();
    const guestToken = await fixture.signIn(guest.email);
    const path = `/workspaces/${own}/members`;
    const add = { bearer: userToken, body: { email: guest.email } };
    expect((await fixture.call("POST", path, add)).status).toBe(202);
    await fixture.accounts.join(own, guest.id);
    const again = { bearer: userToken, body: { user_id: guest.id } };
    expect((await fixture.call("POST", path, again)).status).toBe(409);
    const listed = await fixture.call("GET", path, { bearer: guestToken });
    expect(listed.body.items).toHaveLength(2);
    const outsider = { bearer: guestToken, body: { email: admin.email } };
    expect((await fixture.call("POST", path, outsider)).status).toBe(403);
    const unknown = { bearer: userToken, body: { email: "nobody@example.org" } };
    expect((await fixture.call("POST", path, unknown)).status).toBe(202);
    const owner = `${path}/${user.id}`;
    expect((await fixture.call("DELETE", owner, { bearer: guestToken })).status).toBe(403);
    expect((await fixture.call("DELETE", owner, { bearer: userToken })).status).toBe(409);
    const self = `${path}/${guest.id}`;
    expect((await fixture.call("DELETE", self, { bearer: guestToken })).status).toBe(200);
    expect((await fixture.call("GET", path, { bearer: guestToken })).status).toBe(403);
  });

  it("guest: 404 for an unknown session, also a malformed id; 400 without a name", async () => {
    const body = { session_id: newId(), display_name: "Visitor" };
    expect((await fixture.call("POST", "/auth/guest", { body })).status).toBe(404);
    const malformed = { ...body, session_id: "x" };
    expect((await fixture.call("POST", "/auth/guest", { body: malformed })).status).toBe(404);
    const nameless = { session_id: body.session_id };
    expect((await fixture.call("POST", "/auth/guest", { body: nameless })).status).toBe(400);
  });
});
