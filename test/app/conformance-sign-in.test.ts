import type { webcrypto } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import {
  ConformanceFixture,
  eventually,
  expectMembers,
  expectProblem,
  PASSWORD,
  type Person,
  text,
  time,
  uuid,
} from "../support/conformance-fixture.ts";
import { PCM } from "../support/paired-device.ts";

const HOUR = 3_600_000;

function claims(token: string): Record<string, number> {
  const part = token.split(".")[1] ?? "";
  return JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, number>;
}

/** Every way to sign in, with every code that it promises. */
describe("conformance: signing in", () => {
  let fixture: ConformanceFixture;
  beforeAll(async () => {
    fixture = await ConformanceFixture.open({});
    fixture.sessionId = await fixture.start();
  });
  afterAll(() => fixture?.close());

  const login = (email: string, more: object = {}) =>
    fixture.send<{ token: string; refresh_token: string }>("POST", "/auth/login", {
      body: { email, password: PASSWORD, ...more },
    });

  async function rememberedLogin({ email }: Person) {
    return (await login(email, { remember_me: true })).body;
  }

  const refresh = (token: string) =>
    fixture.send<{ token: string }>("GET", "/auth/refresh-token", { token });

  /** The token of the newest sign-in link, once there are more than `before`; others get letters too. */
  async function mailed(before: number): Promise<string> {
    const folder = join(fixture.service.folder, "data/mail");
    let tokens: string[] = [];
    const read = async () => {
      const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".eml"));
      const letters = await Promise.all(
        names.sort().map((name) => readFile(join(folder, name), "utf8")),
      );
      tokens = letters.flatMap((letter) => {
        const plain = letter.replaceAll("=\r\n", "").replaceAll("=3D", "=");
        return /token=([A-Za-z0-9._~-]+)/.exec(plain)?.[1] ?? [];
      });
      return tokens.length > before;
    };
    await eventually(read, "a sign-in link", 10_000);
    return tokens.at(-1) ?? "";
  }

  it("POST /auth/login: 200 400 401, the same 401 whatever was wrong", async () => {
    const person = await fixture.person("participant");
    for (const body of [{}, { email: person.email }, { email: 1, password: PASSWORD }]) {
      expectProblem(await fixture.send("POST", "/auth/login", { body }), 400, "invalid_body");
    }
    const unknown = await login("nobody@example.org");
    const wrong = await login(person.email, { password: "not the right one" });
    await fixture.done("POST", `/users/${person.id}/disable`, { token: fixture.admin.token });
    const disabled = await login(person.email);
    for (const answer of [unknown, wrong, disabled]) {
      expectProblem(answer, 401, "invalid_credentials");
      expect(answer.body).toEqual(unknown.body);
    }
  });

  it("GET /auth/refresh-token: 200 with a token only, no-store, and 401", async () => {
    const { refresh_token, token } = await rememberedLogin(fixture.member);
    const answer = await refresh(refresh_token);
    expectMembers(answer.body, { token: text });
    expect(answer.headers.get("cache-control")).toBe("no-store");
    await fixture.done("GET", "/auth/me", { token: answer.body.token });
    for (const wrong of [token, "nonsense"]) {
      expectProblem(await refresh(wrong), 401, "invalid_token");
    }
    const bare = await fixture.send("GET", "/auth/refresh-token");
    expectProblem(bare, 401, "unauthorized");
    const asAccess = await fixture.send("GET", "/auth/me", { token: refresh_token });
    expectProblem(asAccess, 401, "invalid_token");
  });

  it("magic link: 200 whatever the address, one use, 400 401", async () => {
    const known = await fixture.done("POST", "/auth/request-magic-link", {
      body: { email: fixture.member.email },
    });
    const token = await mailed(0);
    const unknown = await fixture.done("POST", "/auth/request-magic-link", {
      body: { email: "nobody@example.org" },
    });
    expectMembers(known, { success: (value) => value === true, message: text });
    expect(unknown).toEqual(known);
    for (const body of [{}, { email: 5 }]) {
      const answer = await fixture.send("POST", "/auth/request-magic-link", { body });
      expectProblem(answer, 400, "invalid_body");
    }
    const path = "/auth/validate-magic-link";
    const signedIn = await fixture.done<{ token: string }>("POST", path, { body: { token } });
    expectMembers(signedIn, {
      token: text,
      user: (value) => (value as { id: string }).id === fixture.member.id,
    });
    await fixture.done("GET", "/auth/me", { token: signedIn.token });
    for (const used of [token, "nonsense"]) {
      const again = await fixture.send("POST", path, { body: { token: used } });
      expectProblem(again, 401, "invalid_token");
    }
    for (const body of [{}, { token: 5 }]) {
      expectProblem(await fixture.send("POST", path, { body }), 400, "invalid_body");
    }
  });

  it("POST /auth/guest: 201 400 403 404", async () => {
    const body = { session_id: fixture.sessionId, display_name: "Gus" };
    const entered = await fixture.done("POST", "/auth/guest", { body }, 201);
    expectMembers(entered, {
      token: text,
      expires_at: time,
      guest: (value) => {
        expectMembers(value, { id: uuid, display_name: (name) => name === "Gus" });
        return true;
      },
      session_id: (value) => value === fixture.sessionId,
    });
    for (const wrong of [
      {},
      { session_id: fixture.sessionId },
      { ...body, display_name: " " },
      { ...body, display_name: 7 },
      { ...body, session_id: null },
    ]) {
      const answer = await fixture.send("POST", "/auth/guest", { body: wrong });
      expectProblem(answer, 400, "invalid_body");
    }
    for (const session_id of [newId(), "none"]) {
      const answer = await fixture.send("POST", "/auth/guest", { body: { ...body, session_id } });
      expectProblem(answer, 404, "not_found");
    }
    const path = `/sessions/${fixture.sessionId}`;
    const { token } = fixture.owner;
    await fixture.done("PATCH", path, { token, body: { guest_access: "closed" } });
    const closed = await fixture.send("POST", "/auth/guest", { body });
    expectProblem(closed, 403, "guest_access_closed");
    await fixture.done("PATCH", path, { token, body: { guest_access: "open" } });
  });

  it("GET /auth/guest: 200 401", async () => {
    const body = { session_id: fixture.sessionId, display_name: "Gus", refresh_cookie: true };
    const entered = await fixture.send("POST", "/auth/guest", { body });
    const cookie = (entered.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const path = `/auth/guest?session_id=${fixture.sessionId}`;
    const again = await fixture.done("GET", path, { headers: { cookie } });
    expectMembers(again, {
      token: text,
      expires_at: (value) => value === entered.body.expires_at,
      guest: (value) => JSON.stringify(value) === JSON.stringify(entered.body.guest),
      session_id: (value) => value === fixture.sessionId,
    });
    const others: Record<string, string>[] = [{}, { cookie: "voice-refresh=1" }];
    for (const headers of others) {
      expectProblem(await fixture.send("GET", path, { headers }), 401, "unauthorized");
    }
  });

  it("login returns a signed JWT, which the published keys verify", async () => {
    const { token } = (await login(fixture.member.email)).body;
    const header = JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString());
    const { keys } = await fixture.done<{ keys: (webcrypto.JsonWebKey & { kid: string })[] }>(
      "GET",
      "/auth/jwks.json",
    );
    const jwk = keys.find(({ kid }) => kid === header.kid);
    const key = await crypto.subtle.importKey("jwk", jwk ?? {}, "Ed25519", false, ["verify"]);
    const dot = token.lastIndexOf(".");
    const signature = Buffer.from(token.slice(dot + 1), "base64url");
    const signed = Buffer.from(token.slice(0, dot));
    expect(await crypto.subtle.verify("Ed25519", key, signature, signed)).toBe(true);
    const { exp = 0, iat = 0 } = claims(token);
    // A token ends with its login, which was opened a moment before it was signed.
    const lifetime = (exp - iat) * 1_000;
    expect(lifetime).toBeLessThanOrEqual(HOUR);
    expect(lifetime).toBeGreaterThan(HOUR - 60_000);
  });

  it("only remember_me gives a refresh token, and it ends at logout", async () => {
    expect((await login(fixture.member.email)).body).not.toHaveProperty("refresh_token");
    const { token, refresh_token } = await rememberedLogin(fixture.member);
    expect((await refresh(refresh_token)).status).toBe(200);
    await fixture.done("POST", "/auth/logout", { token });
    expectProblem(await refresh(refresh_token), 401, "invalid_token");
    expectProblem(await fixture.send("GET", "/auth/me", { token }), 401, "invalid_token");
  });

  it("the refresh token also ends at disable and at a change of the password", async () => {
    const person = await fixture.person("participant");
    const first = await rememberedLogin(person);
    const other = await rememberedLogin(person);
    const body = { current_password: PASSWORD, new_password: "another long enough one" };
    await fixture.done("POST", "/auth/password", { token: other.token, body });
    expectProblem(await refresh(first.refresh_token), 401, "invalid_token");
    const again = await login(person.email, { password: body.new_password, remember_me: true });
    await fixture.done("POST", `/users/${person.id}/disable`, { token: fixture.admin.token });
    expectProblem(await refresh(again.body.refresh_token), 401, "invalid_token");
  });

  it("providers are listed, and one that is not configured is 404", async () => {
    const { items } = await fixture.done<{ items: unknown[] }>("GET", "/auth/oauth/providers");
    expect(items).toEqual([]);
    for (const step of ["authorize", "callback"]) {
      const answer = await fixture.send("GET", `/auth/oauth/nobody/${step}`);
      expectProblem(answer, 404, "not_found");
    }
  });

  it("a guest's token opens its session only, at most 12 h", async () => {
    const guest = await fixture.guest();
    const other = await fixture.pair();
    const elsewhere = await fixture.start(other);
    const { token } = guest;
    await fixture.done("GET", `/sessions/${fixture.sessionId}`, { token });
    const answer = await fixture.send("GET", `/sessions/${elsewhere}`, { token });
    expectProblem(answer, 403, "forbidden");
    const { exp = 0, iat = 0 } = claims(token);
    expect((exp - iat) * 1_000).toBeLessThanOrEqual(12 * HOUR);
    await fixture.stop(other);
  });

  it("keys come from pairing with expires_at, and claim-auth gives a fresh one", async () => {
    const device = await fixture.pair();
    const path = "/devices/pair/claim-auth";
    const fresh = await fixture.done<{ api_key: string; expires_at: string }>("POST", path, {
      key: device.key,
    });
    expect(fresh.api_key).not.toBe(device.key);
    const days = (Date.parse(fresh.expires_at) - Date.now()) / (24 * HOUR);
    // The service goes by its database's clock, which is another one.
    expect(Math.abs(days - 30)).toBeLessThan(0.1);
    for (const key of [fresh.api_key, device.key]) {
      await fixture.done("POST", `/devices/${device.id}/heartbeat`, { key });
    }
  });

  it("what needs the device key answers 401 to a user's JWT", async () => {
    const { token } = fixture.owner;
    const device = `/devices/${fixture.device.id}`;
    for (const path of ["/heartbeat", "/session/start", "/session/stop"]) {
      expectProblem(await fixture.send("POST", device + path, { token }), 401);
    }
    const upload = await fixture.send("POST", `/sessions/${fixture.sessionId}/upload-audio`, {
      token,
      bytes: Buffer.alloc(320),
      headers: { "content-type": PCM, "x-chunk-sequence": "0" },
    });
    expectProblem(upload, 401);
  });

  it("five routes need no authentication", async () => {
    const open: [string, string, object?][] = [
      ["POST", "/auth/login", {}],
      ["POST", "/auth/guest", {}],
      ["POST", "/devices/pairing-codes", {}],
      ["GET", `/devices/pair/status?device_id=${fixture.device.id}`],
      ["GET", "/health"],
    ];
    for (const [method, path, body] of open) {
      const { status } = await fixture.send(method, path, body === undefined ? {} : { body });
      expect(status).toBe(body === undefined ? 200 : 400);
    }
  });

  it("a token in the address is never accepted", async () => {
    const { token } = fixture.owner;
    expectProblem(await fixture.send("GET", `/auth/me?token=${token}`), 401, "unauthorized");
    const keyed = await fixture.send(
      "POST",
      `/devices/${fixture.device.id}/heartbeat?api_key=${fixture.device.key}`,
    );
    expectProblem(keyed, 401, "unauthorized");
  });
});
