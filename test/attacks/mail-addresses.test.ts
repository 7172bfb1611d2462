import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { OidcProvider } from "../../src/tenancy/accounts/oauth-providers.ts";
import { PASSWORD } from "../support/account-fixture.ts";
import { Browser } from "../support/browser.ts";
import { HttpFixture } from "../support/http-fixture.ts";
import { IdentityProvider } from "../support/identity-provider.ts";

/** Spellings of `kim.ino@x.test` that some folding or trimming makes equal to it. */
const LOOKALIKES = [
  "k\u0130m.ino@x.test",
  "k\u0131m.ino@x.test",
  "\u212aim.ino@x.test",
  "\uff4b\uff49\uff4d.ino@x.test",
  "kim.ino@\uff58.test",
  "kim.ino@x.test ",
  " kim.ino@x.test",
  "kim.ino@x.test\u00a0",
  "kim.ino@x.test\u0000",
  "kim.ino@x.test\n",
  "kim\u00ad.ino@x.test",
  "kim.ino@x\u3002test",
  "ki\u006d\u0307.ino@x.test",
];
/** Texts that are no address at all. */
const ODD = ["", " ", "@", "nobody", "\ud800", "\u0000", `${"x".repeat(50_000)}@x.test`, "a@b@c"];

let fixture: HttpFixture;
let server: IdentityProvider;
const letters: string[] = [];

beforeAll(async () => {
  fixture = await HttpFixture.open();
  fixture.accounts.publicUrl = fixture.url.replace(/\/api$/, "");
  server = await IdentityProvider.start(`${fixture.url}/auth/oauth/open/callback`, true);
  fixture.accounts.providers.push(
    new OidcProvider({
      id: "open",
      name: "The open one",
      kind: "oidc",
      issuer: server.issuer,
      clientId: server.client.id,
      clientSecret: server.client.secret,
      createUsers: true,
    }),
  );
  fixture.accounts.mail = {
    async send({ to }) {
      letters.push(to);
    },
  };
  await fixture.accounts.addUser("participant", "kim.ino@x.test");
});

afterAll(async () => {
  await fixture.close();
  await server.stop();
});

function login(email: string, password = PASSWORD) {
  return fixture.call("POST", "/auth/login", { body: { email, password } });
}

/** Signs in at the provider as somebody whose verified address is this one. */
async function atProvider(email: string): Promise<{ status: number; body: string }> {
  const person = newId();
  server.people.set(person, { email, email_verified: true, name: "Mallory" });
  const browser = new Browser();
  const begun = await browser.request(`${fixture.url}/auth/oauth/open/authorize`);
  const isBack = (url: string) => url.startsWith(fixture.url);
  let at = await browser.follow(fixture.url, begun, isBack);
  for (const fields of [
    { prompt: "login", login: person, password: "x" },
    { prompt: "consent" },
  ] as Record<string, string>[]) {
    if (isBack(at.url)) break;
    at = await browser.follow(at.url, await browser.post(at.url, fields), isBack);
  }
  const answer = await browser.request(at.url);
  return { status: answer.status, body: await answer.text() };
}

describe("addresses of mail", () => {
  it("addresses: login is 401 for every string but the account's own", async () => {
    for (const email of [...LOOKALIKES, ...ODD]) {
      const { status, headers } = await login(email);
      const told = [JSON.stringify(email).slice(0, 80), status, headers.get("x-error-code")];
      expect(told).toEqual([told[0], 401, "invalid_credentials"]);
    }
    expect((await login("KIM.Ino@X.test")).status).toBe(200);
    const odd = await login("kim.ino@x.test", `${PASSWORD}\u0000${"x".repeat(5_000)}`);
    expect(odd.status).toBe(401);
    expect((await login("kim.ino@x.test", "")).status).toBe(401);
  });

  it("addresses: what is no string, or missing, stays 400", async () => {
    for (const body of [{}, { email: 1, password: "x" }, { email: "a@b.test" }, { email: null }]) {
      expect((await fixture.call("POST", "/auth/login", { body })).status).toBe(400);
    }
    const missing = await fixture.call("POST", "/auth/request-magic-link", { body: {} });
    expect(missing.status).toBe(400);
  });

  it("addresses: a link is promised for every string and sent for the account's own only", async () => {
    const ask = (email: string) =>
      fixture.call("POST", "/auth/request-magic-link", { body: { email } });
    const said = new Set<string>();
    for (const email of [...LOOKALIKES, ...ODD, "KIM.ino@x.test"]) {
      const answer = await ask(email);
      expect([email.slice(0, 40), answer.status]).toEqual([email.slice(0, 40), 200]);
      said.add(JSON.stringify(answer.body));
    }
    await fixture.accounts.background.idle();
    expect(said.size).toBe(1);
    expect(letters).toEqual(["kim.ino@x.test"]);
  });

  it("addresses: spellings of one do not multiply what may be tried", async () => {
    const { email } = await fixture.accounts.addUser("participant", "tick@x.test");
    const tries = ["tick@x.test", "TICK@x.test", "Tick@X.TEST", "tIcK@x.test"];
    const statuses: number[] = [];
    for (let n = 0; n < 12; n += 1) {
      statuses.push((await login(tries[n % tries.length] ?? email, "a wrong guess")).status);
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    for (const email of ["t\u0130ck@x.test", "tic\u212a@x.test"]) {
      // Budgets of addresses that no account has: nothing is tried at the account.
      expect((await login(email)).status).toBe(401);
    }
  });

  it("addresses: a provider's word for a look-alike opens nobody's account", async () => {
    for (const email of ["k\u0130m.ino@x.test", "\u212aim.ino@x.test", "kim.ino@\uff58.test"]) {
      const { status, body } = await atProvider(email);
      expect([email, status]).toEqual([email, 403]);
      expect(body).not.toContain("token");
    }
    expect((await atProvider("kim.ino@x.test")).status).toBe(200);
  });

  it("addresses: a provider's word alone makes nobody an administrator", async () => {
    await fixture.accounts.addUser("admin", "admin@x.test");
    for (const email of ["admin@x.test", "ADMIN@x.test", "adm\u0130n@x.test"]) {
      const { status, body } = await atProvider(email);
      expect([email, status]).toEqual([email, 403]);
      expect(body).not.toContain("token");
    }
  });

  it("addresses: new ones are ASCII and kept in lower case; one of before signs in as it is", async () => {
    const admin = await fixture.accounts.addUser("admin");
    const bearer = await fixture.signIn(admin.email);
    const make = (email: string) =>
      fixture.call("POST", "/users", { bearer, body: { email, password: PASSWORD } });
    for (const email of ["jos\u00e9@x.test", "x@\u0131.test", "a b@x.test", "a\u0000@x.test"]) {
      expect((await make(email)).status).toBe(400);
    }
    expect((await make("Ada@X.Test")).body.email).toBe("ada@x.test");
    expect((await make("ADA@x.test")).status).toBe(409);
    await fixture.accounts.addUser("participant", "Jos\u00c9@x.test");
    expect((await login("Jos\u00c9@x.test")).status).toBe(200);
    expect((await login("jos\u00e9@x.test")).status).toBe(401);
    expect((await login("Jose\u0301@x.test")).status).toBe(401);
  });
});
