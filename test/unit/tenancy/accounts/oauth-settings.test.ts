import { describe, expect, it } from "vitest";
import { parseOAuthProviders } from "../../../../src/tenancy/accounts/oauth-settings.ts";

const client = { client_id: "id", client_secret: "hush" };

function parse(...entries: unknown[]) {
  return parseOAuthProviders(JSON.stringify(entries));
}

describe("OAUTH_PROVIDERS", () => {
  it("presets: know the rest; names and issuers may be given", () => {
    expect(parse({ id: "google", preset: "google", ...client })).toEqual([
      {
        id: "google",
        name: "Google",
        kind: "oidc",
        issuer: "https://accounts.google.com",
        clientId: "id",
        clientSecret: "hush",
        createUsers: false,
      },
    ]);
    const [own] = parse({
      id: "own",
      issuer: "https://id.example.org",
      create_users: true,
      ...client,
    });
    expect(own).toMatchObject({ name: "own", kind: "oidc", createUsers: true });
    const ghe = { id: "ghe", preset: "github", issuer: "https://ghe.example.org", ...client };
    expect(parse(ghe)).toMatchObject([{ kind: "github", issuer: "https://ghe.example.org" }]);
    expect(parseOAuthProviders(undefined)).toEqual([]);
  });

  it("problems: all are named at once, and no secret is", () => {
    const bad = () =>
      parse(
        { id: "Bad Id", preset: "nonsense", ...client },
        { id: "plain", issuer: "http://id.example.org", ...client },
        { id: "plain", issuer: "https://id.example.org" },
      );
    expect(bad).toThrow(
      /number 1 needs an id.*nonsense.*number 2 needs an issuer.*client_id.*twice/,
    );
    expect(bad).not.toThrow(/hush/);
    expect(() => parseOAuthProviders('[{"client_secret": "hush"')).toThrow(/^(?!.*hush)/);
  });

  it("plain HTTP: on this machine only", () => {
    expect(parse({ id: "own", issuer: "http://127.0.0.1:9000", ...client })).toHaveLength(1);
    expect(() => parse({ id: "own", issuer: "http://127.0.0.1.evil.test", ...client })).toThrow();
  });
});
