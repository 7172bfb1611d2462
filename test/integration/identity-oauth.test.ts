import { sql } from "slonik";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { newId } from "../../src/base/ids.ts";
import { OidcProvider } from "../../src/tenancy/accounts/oauth-providers.ts";
import { Browser } from "../support/browser.ts";
import { HttpFixture } from "../support/http-fixture.ts";
import { IdentityProvider } from "../support/identity-provider.ts";

const MINUTE = 60_000;

describe("signing in with an OpenID Connect provider", () => {
  let fixture: HttpFixture;
  let strict: IdentityProvider;
  let open: IdentityProvider;

  beforeAll(async () => {
    fixture = await HttpFixture.open();
    fixture.accounts.publicUrl = fixture.url.replace(/\/api$/, "");
    strict = await IdentityProvider.start(callback("strict"));
    open = await IdentityProvider.start(callback("open"), true);
    for (const [id, server] of [
      ["strict", strict],
      ["open", open],
    ] as const) {
      fixture.accounts.providers.push(
        new OidcProvider({
          id,
          name: `The ${id} one`,
          kind: "oidc",
          issuer: server.issuer,
          clientId: server.client.id,
          clientSecret: server.client.secret,
          createUsers: id === "open",
        }),
      );
    }
  });

  afterAll(async () => {
    await fixture.close();
    await strict.stop();
    await open.stop();
  });

  function callback(provider: string): string {
    return `${fixture.url}/auth/oauth/${provider}/callback`;
  }

  function authorize(browser: Browser, provider: string, redirect?: string) {
    const query = redirect === undefined ? "" : `?${new URLSearchParams({ redirect })}`;
    return browser.request(`${fixture.url}/auth/oauth/${provider}/authorize${query}`);
  }

  /** Logs in at the provider and consents; the address that it sends the browser back to. */
  async function atProvider(browser: Browser, begun: Response, login: string): Promise<string> {
    const isBack = (url: string) => url.startsWith(fixture.url);
    let at = await browser.follow(fixture.url, begun, isBack);
    const forms: Record<string, string>[] = [
      { prompt: "login", login, password: "x" },
      { prompt: "consent" },
    ];
    for (const fields of forms) {
      if (isBack(at.url)) break;
      expect(at.response.status, await at.response.clone().text()).toBe(200);
      at = await browser.follow(at.url, await browser.post(at.url, fields), isBack);
    }
    return at.url;
  }

  async function signIn(provider: "strict" | "open", login: string, redirect?: string) {
    const browser = new Browser();
    const begun = await authorize(browser, provider, redirect);
    expect(begun.status).toBe(302);
    return browser.request(await atProvider(browser, begun, login));
  }

  function addPerson(server: IdentityProvider, email: string, verified = true): string {
    const login = newId();
    server.people.set(login, { email, email_verified: verified, name: "Ada" });
    return login;
  }

  async function auditOf(subjectId: string): Promise<string[]> {
    const rows = await fixture.accounts.pool.any(sql.type(z.object({ kind: z.string() }))`
      select kind from audit_log where subject_id = ${subjectId} order by seq`);
    return rows.map((row) => row.kind);
  }

  it("providers: their names and where to send the browser, no secrets", async () => {
    const { body } = await fixture.call("GET", "/auth/oauth/providers");
    expect(body.next_cursor).toBeNull();
    expect((body.items as unknown[])[0]).toEqual({
      id: "strict",
      name: "The strict one",
      authorize_url: `${fixture.url}/auth/oauth/strict/authorize`,
    });
  });

  it("flow: by verified address the first time, by the provider's id from then on", async () => {
    const { id, email } = await fixture.accounts.addUser("moderator");
    const login = addPerson(strict, email.toUpperCase());
    const first = await signIn("strict", login);
    expect(first.status).toBe(200);
    const body = (await first.json()) as { token: string };
    expect(body).toEqual({
      token: expect.any(String),
      user: { id, email, role: "moderator" },
    });
    const me = await fixture.call("GET", "/auth/me", { bearer: body.token });
    expect(me.body).toMatchObject({ id, role: "moderator" });
    expect(await auditOf(id)).toEqual(["login_linked"]);
    strict.people.set(login, { email: "moved@example.org", email_verified: false, name: "" });
    const second = await signIn("strict", login);
    expect(await second.json()).toMatchObject({ user: { id } });
    expect(await auditOf(id)).toEqual(["login_linked"]);
  });

  it("authorize: PKCE, state and nonce go along, and a cookie that scripts cannot read", async () => {
    const browser = new Browser();
    const begun = await authorize(browser, "strict");
    const location = new URL(begun.headers.get("location") ?? "");
    expect(location.origin).toBe(strict.issuer);
    expect(Object.fromEntries(location.searchParams)).toMatchObject({
      response_type: "code",
      client_id: "voice",
      redirect_uri: callback("strict"),
      code_challenge_method: "S256",
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^\w{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    const cookie = begun.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/^voice-oauth=\w{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/);
    expect(begun.headers.get("cache-control")).toBe("no-store");
    fixture.accounts.publicUrl = "https://voice.test";
    const secure = await authorize(new Browser(), "strict");
    fixture.accounts.publicUrl = fixture.url.replace(/\/api$/, "");
    expect(secure.headers.get("set-cookie")).toMatch(/^__Host-voice-oauth=.*; Secure$/);
  });

  it("unknown people: refused, or given an account where that is wanted", async () => {
    const email = `${newId()}@example.org`;
    const refused = await signIn("strict", addPerson(strict, email));
    expect([refused.status, refused.headers.get("x-error-code")]).toEqual([403, "forbidden"]);
    const login = addPerson(open, email);
    const created = await signIn("open", login);
    const { user } = (await created.json()) as { user: { id: string } };
    expect(user).toEqual({ id: expect.any(String), email, role: "participant" });
    expect(await auditOf(user.id)).toEqual(["user_created", "login_linked"]);
    const password = { email, password: "correct horse" };
    expect((await fixture.call("POST", "/auth/login", { body: password })).status).toBe(401);
    const again = await signIn("open", login);
    expect(await again.json()).toMatchObject({ user });
  });

  it("unverified address: 403, whether it is somebody's or nobody's", async () => {
    const { email } = await fixture.accounts.addUser();
    expect((await signIn("strict", addPerson(strict, email, false))).status).toBe(403);
    const stranger = addPerson(open, `${newId()}@example.org`, false);
    expect((await signIn("open", stranger)).status).toBe(403);
  });

  it("disabled: 403, linked or not", async () => {
    const { id, email } = await fixture.accounts.addUser();
    const login = addPerson(strict, email);
    expect((await signIn("strict", login)).status).toBe(200);
    await fixture.accounts.users.setDisabled(id, true);
    expect((await signIn("strict", login)).status).toBe(403);
    expect((await signIn("strict", addPerson(strict, email))).status).toBe(403);
  });

  it("redirect: back to an allowed page with the token, or the reason, in the fragment", async () => {
    const { email } = await fixture.accounts.addUser();
    const done = await signIn("strict", addPerson(strict, email), "https://page.test/in?a=1#old");
    expect(done.status).toBe(302);
    const location = new URL(done.headers.get("location") ?? "");
    expect(`${location.origin}${location.pathname}${location.search}`).toBe(
      "https://page.test/in?a=1",
    );
    const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
    expect((await fixture.call("GET", "/auth/me", { bearer: token })).status).toBe(200);
    const unknown = addPerson(strict, `${newId()}@example.org`);
    const refused = await signIn("strict", unknown, "/welcome");
    expect(refused.headers.get("location")).toBe(
      `${fixture.accounts.publicUrl}/welcome#error=forbidden`,
    );
  });

  it("redirect: nowhere else", async () => {
    for (const page of [
      "https://evil.test/",
      "//evil.test",
      "/\\evil.test",
      "https://page.test.evil.test/",
      "https://page.test@evil.test/",
      "https://user:pass@page.test/",
      "javascript:alert(1)",
      "data:text/html,x",
    ]) {
      const answer = await authorize(new Browser(), "strict", page);
      expect(answer.status, page).toBe(400);
    }
    expect((await authorize(new Browser(), "nobody")).status).toBe(404);
  });

  it("answer: once, only in the browser that asked, at the provider that was asked, within 10 min", async () => {
    const { email } = await fixture.accounts.addUser();
    const login = addPerson(strict, email);
    const begin = async () => {
      const browser = new Browser();
      const begun = await authorize(browser, "strict");
      return { browser, answer: await atProvider(browser, begun, login) };
    };
    const { browser, answer } = await begin();
    expect((await new Browser().request(answer)).status).toBe(400);
    const other = new Browser();
    await authorize(other, "strict");
    expect((await other.request(answer)).status).toBe(400);
    const confused = answer.replace("/oauth/strict/", "/oauth/open/");
    expect((await browser.request(confused)).status).toBe(400);
    expect((await browser.request(answer)).status).toBe(200);
    expect((await browser.request(answer)).status).toBe(400);
    const late = await begin();
    fixture.accounts.clock.advance(10 * MINUTE);
    expect((await late.browser.request(late.answer)).status).toBe(400);
    expect((await browser.request(callback("strict"))).status).toBe(400);
  });

  it("two tabs: each comes to its end", async () => {
    const { email } = await fixture.accounts.addUser();
    const login = addPerson(strict, email);
    const browser = new Browser();
    const begun = [await authorize(browser, "strict"), await authorize(browser, "strict")];
    for (const tab of begun) {
      const answer = await atProvider(browser, tab, login);
      expect((await browser.request(answer)).status).toBe(200);
    }
  });

  it("tampered answers: 401 for another code, a refusal, or another issuer; each ends the request", async () => {
    const { email } = await fixture.accounts.addUser();
    const login = addPerson(strict, email);
    for (const change of [
      (query: URLSearchParams) => query.set("code", "made up"),
      (query: URLSearchParams) => query.set("iss", "https://evil.test"),
      (query: URLSearchParams) => {
        query.delete("code");
        query.set("error", "access_denied");
      },
    ]) {
      const browser = new Browser();
      const answer = new URL(await atProvider(browser, await authorize(browser, "strict"), login));
      change(answer.searchParams);
      const refused = await browser.request(answer.href);
      expect(refused.status, answer.search).toBe(401);
      expect(refused.headers.get("x-error-code")).toBe("invalid_credentials");
      expect((await browser.request(answer.href)).status).toBe(400);
    }
  });

  it("code injection: another browser's code does not fit this browser's verifier", async () => {
    const { email } = await fixture.accounts.addUser();
    const login = addPerson(strict, email);
    const [victim, thief] = [new Browser(), new Browser()];
    const stolen = new URL(await atProvider(victim, await authorize(victim, "strict"), login));
    const own = new URL(await atProvider(thief, await authorize(thief, "strict"), login));
    own.searchParams.set("code", stolen.searchParams.get("code") ?? "");
    expect((await thief.request(own.href)).status).toBe(401);
  });

  it("outage: 503 when the provider cannot be reached", async () => {
    fixture.accounts.providers.push(
      new OidcProvider({
        id: "gone",
        name: "Gone",
        kind: "oidc",
        issuer: "http://127.0.0.1:9",
        clientId: "x",
        clientSecret: "x",
        createUsers: false,
      }),
    );
    expect((await authorize(new Browser(), "gone")).status).toBe(503);
  });
});
