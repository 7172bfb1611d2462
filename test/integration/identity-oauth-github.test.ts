import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GithubProvider } from "../../src/tenancy/accounts/oauth-providers.ts";
import { Browser } from "../support/browser.ts";
import { HttpFixture } from "../support/http-fixture.ts";

interface Address {
  email: string;
  primary: boolean;
  verified: boolean;
}

/** The part of a GitHub Enterprise server that a sign-in touches, as its documentation has it. */
class GithubServer {
  emails: Address[] = [];
  #challenge = "";
  readonly #server: Server;

  constructor() {
    this.#server = createServer(async (request, response) => {
      const answer = await this.#answer(request);
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(answer));
    });
  }

  start(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, "127.0.0.1", () => resolve()));
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Signing in and consenting: where the browser is sent back to. */
  consent(authorize: URL): string {
    const { searchParams } = authorize;
    this.#challenge = searchParams.get("code_challenge") ?? "";
    const state = searchParams.get("state") ?? "";
    return `${searchParams.get("redirect_uri")}?${new URLSearchParams({ code: "c0de", state })}`;
  }

  async #answer(request: IncomingMessage): Promise<unknown> {
    if (request.url === "/login/oauth/access_token") return this.#token(request);
    if (request.headers.authorization !== "Bearer gho_1") return { message: "Bad credentials" };
    return request.url === "/api/v3/user" ? { id: 583231, login: "ada", name: null } : this.emails;
  }

  /** GitHub answers 200 to what it refuses, too. */
  async #token(request: IncomingMessage): Promise<unknown> {
    let text = "";
    for await (const part of request) text += String(part);
    const form = new URLSearchParams(text);
    const verifier = form.get("code_verifier") ?? "";
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    const right = form.get("client_secret") === "s3cret" && form.get("code") === "c0de";
    if (!right || challenge !== this.#challenge) return { error: "bad_verification_code" };
    return { access_token: "gho_1", token_type: "bearer", scope: "read:user,user:email" };
  }
}

describe("signing in with GitHub", () => {
  const github = new GithubServer();
  let fixture: HttpFixture;

  beforeAll(async () => {
    fixture = await HttpFixture.open();
    fixture.accounts.publicUrl = fixture.url.replace(/\/api$/, "");
    await github.start();
    for (const [id, clientSecret] of [
      ["github", "s3cret"],
      ["misconfigured", "wrong"],
    ] as const) {
      fixture.accounts.providers.push(
        new GithubProvider({
          id,
          name: "GitHub",
          kind: "github",
          issuer: github.url,
          clientId: "voice",
          clientSecret,
          createUsers: false,
        }),
      );
    }
  });

  afterAll(async () => {
    await fixture.close();
    await github.stop();
  });

  async function signIn(provider = "github"): Promise<Response> {
    const browser = new Browser();
    const begun = await browser.request(`${fixture.url}/auth/oauth/${provider}/authorize`);
    return browser.request(github.consent(new URL(begun.headers.get("location") ?? "")));
  }

  it("flow: by the verified primary address, later by the user's id", async () => {
    const { id, email } = await fixture.accounts.addUser();
    github.emails = [
      { email: "other@example.org", primary: false, verified: true },
      { email, primary: true, verified: true },
    ];
    expect(await (await signIn()).json()).toMatchObject({ user: { id } });
    github.emails = [];
    expect(await (await signIn()).json()).toMatchObject({ user: { id } });
    await fixture.accounts.users.setDisabled(id, true);
    expect((await signIn()).status).toBe(403);
  });

  it("secret: a wrong one is 401, and nobody gets in", async () => {
    const refused = await signIn("misconfigured");
    expect([refused.status, refused.headers.get("x-error-code")]).toEqual([
      401,
      "invalid_credentials",
    ]);
  });
});

describe("GitHub's addresses", () => {
  it("unverified or secondary ones prove nothing", async () => {
    const github = new GithubServer();
    const fixture = await HttpFixture.open();
    await github.start();
    fixture.accounts.publicUrl = fixture.url.replace(/\/api$/, "");
    const settings = { clientId: "voice", clientSecret: "s3cret", createUsers: true };
    fixture.accounts.providers.push(
      new GithubProvider({ id: "gh", name: "GH", kind: "github", issuer: github.url, ...settings }),
    );
    const { email } = await fixture.accounts.addUser();
    for (const emails of [
      [{ email, primary: true, verified: false }],
      [{ email, primary: false, verified: true }],
      [],
    ]) {
      github.emails = emails;
      const browser = new Browser();
      const begun = await browser.request(`${fixture.url}/auth/oauth/gh/authorize`);
      const answer = github.consent(new URL(begun.headers.get("location") ?? ""));
      expect((await browser.request(answer)).status).toBe(403);
    }
    await fixture.close();
    await github.stop();
  });
});
