import { createHmac, generateKeyPairSync } from "node:crypto";
import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../../../src/base/ids.ts";
import { importSigningKey, KeyRing, Tokens } from "../../../../src/tenancy/accounts/tokens.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const HOUR = 3_600_000;

async function newKey() {
  const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true });
  return importSigningKey(await exportJWK(privateKey));
}

function base64(value: unknown): string {
  return Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString(
    "base64url",
  );
}

describe("tokens", () => {
  const clock = new ManualClock();
  let key: Awaited<ReturnType<typeof newKey>>;
  let tokens: Tokens;
  let token: string;
  let header: Record<string, unknown>;
  let payload: Record<string, unknown>;

  beforeAll(async () => {
    key = await newKey();
    tokens = new Tokens(new KeyRing([key]), clock);
    token = await tokens.sign({
      kind: "access",
      subject: newId(),
      scope: newId(),
      expiresAt: clock.now() + HOUR,
    });
    const [head = "", body = ""] = token.split(".");
    header = JSON.parse(Buffer.from(head, "base64url").toString());
    payload = JSON.parse(Buffer.from(body, "base64url").toString());
  });

  const accepted = async (candidate: string): Promise<boolean> =>
    tokens.verify(candidate, ["access", "guest"]).then(
      () => true,
      () => false,
    );

  /** Signed with the right key, so that only what is said in it can be wrong. */
  function resigned(
    changes: Record<string, unknown>,
    headerChanges: Record<string, unknown> = {},
  ): Promise<string> {
    return new SignJWT({ ...payload, ...changes })
      .setProtectedHeader({ alg: "EdDSA", ...header, ...headerChanges })
      .sign(key.privateKey);
  }

  it("verify: takes what it signed, also with an older key of the ring", async () => {
    expect(await accepted(token)).toBe(true);
    const rotated = new Tokens(new KeyRing([key, await newKey()]), clock);
    expect((await rotated.verify(token, ["access"])).subject).toBe(payload.sub);
    expect(await accepted(await resigned({}))).toBe(true);
  });

  it("verify: says whether it is no token, another's, or of a kind that is not taken", async () => {
    const said = (text: string) => tokens.verify(text, ["access"]).catch((error) => error.message);
    const garbage = "This is not a token of this service; was it copied whole?";
    expect(await said("abc")).toBe(garbage);
    expect(await said(token.slice(0, -1))).toBe(garbage);
    const times = { subject: newId(), scope: newId(), expiresAt: clock.now() + HOUR };
    const elsewhere = new Tokens(new KeyRing([await newKey()]), clock);
    const foreign = "This token was not signed with a key of this installation. Sign in here.";
    expect(await said(await elsewhere.sign({ kind: "access", ...times }))).toBe(foreign);
    expect(await said(await tokens.sign({ kind: "refresh", ...times }))).toBe(
      "A refresh token is not taken here.",
    );
    expect(await said(await resigned({}, { typ: "JWT" }))).toBe(
      "This token was made by another service.",
    );
  });

  it("verify: what it took before, no longer when its time or its key has ended", async () => {
    const time = new ManualClock();
    const ring = new KeyRing([key], time);
    const own = new Tokens(ring, time);
    const claims = { subject: newId(), scope: newId(), expiresAt: time.now() + HOUR };
    const given = await own.sign({ kind: "access", ...claims });
    const first = await own.verify(given, ["access"]);
    expect(await own.verify(given, ["access", "guest"])).toEqual(first);
    const mistaken = own.verify(given, ["guest"]);
    await expect(mistaken).rejects.toThrow("A user's access token is not taken here.");
    ring.replace([await newKey()]);
    const foreign = own.verify(given, ["access"]);
    await expect(foreign).rejects.toThrow("not signed with a key of this installation");
    ring.replace([key]);
    expect(await own.verify(given, ["access"])).toEqual(first);
    time.advance(HOUR);
    await expect(own.verify(given, ["access"])).rejects.toThrow("expired");
  });

  it("verify: not one of several hundred single-character mutations", async () => {
    const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let tried = 0;
    for (let at = 0; at < token.length; at += 1) {
      if (token[at] === ".") continue;
      const place = letters.indexOf(token.charAt(at));
      // The neighbour differs in the last bit only: the one that decoders overlook at an end.
      const mutant = token.slice(0, at) + letters.charAt(place ^ 1) + token.slice(at + 1);
      expect(await accepted(mutant), `position ${at}`).toBe(false);
      tried += 1;
    }
    expect(tried).toBeGreaterThan(300);
  });

  it("verify: none of the known tricks with header, signature and claims", async () => {
    const [head = "", body = "", signature = ""] = token.split(".");
    const other = await newKey();
    const spki = await exportSPKI(key.publicKey);
    const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const hmac = (text: string, secret: string) =>
      createHmac("sha256", secret).update(text).digest("base64url");
    const symmetric = (secret: string) => {
      const text = `${base64({ ...header, alg: "HS256" })}.${body}`;
      return `${text}.${hmac(text, secret)}`;
    };
    const candidates = [
      "",
      "..",
      `${head}.${body}.`,
      `${head}.${body}`,
      `${token}.`,
      `${token}=`,
      ` ${token}`,
      `${token}\n`,
      `${base64({ ...header, alg: "none" })}.${body}.`,
      `${base64({ ...header, alg: "None" })}.${body}.${signature}`,
      symmetric(spki),
      symmetric(String(key.publicJwk.x)),
      symmetric(""),
      await new SignJWT(payload)
        .setProtectedHeader({ alg: "EdDSA", typ: "at+jwt", kid: key.kid })
        .sign(other.privateKey),
      await new SignJWT(payload)
        .setProtectedHeader({
          alg: "EdDSA",
          typ: "at+jwt",
          kid: key.kid,
          jwk: { kty: "OKP", crv: "Ed25519", x: other.publicJwk.x },
        })
        .sign(other.privateKey),
      await new SignJWT(payload)
        .setProtectedHeader({ alg: "RS256", typ: "at+jwt", kid: key.kid })
        .sign(rsa.privateKey),
      ...(await Promise.all(
        [
          { jku: "https://evil.example/jwks.json" },
          { x5u: "https://evil.example/cert" },
          { jwk: key.publicJwk },
          { kid: undefined },
          { kid: "" },
          { kid: "../../etc/passwd" },
          { kid: "' or 1=1 --" },
          { kid: "__proto__" },
          { kid: other.kid },
          { typ: undefined },
          { typ: "JWT" },
          { typ: "rt+jwt" },
          { typ: "gt+jwt" },
          { cty: "JWT" },
        ].map((changes) => resigned({}, changes)),
      )),
      ...(await Promise.all(
        [
          { aud: undefined },
          { aud: "voice:guest" },
          { aud: "voice:refresh" },
          { aud: ["voice:other"] },
          { iss: undefined },
          { iss: "someone-else" },
          { exp: undefined },
          { exp: Math.floor(clock.now() / 1000) },
          { exp: Math.floor(clock.now() / 1000) - 1 },
          { exp: "9999999999" },
          { nbf: Math.floor(clock.now() / 1000) + 60 },
          { iat: undefined },
          { jti: undefined },
          { sub: undefined },
          { sub: "admin" },
          { sub: 7 },
          { sid: undefined },
          { sid: "x' or '1'='1" },
          { sid: null },
        ].map((changes) => resigned(changes)),
      )),
    ];
    for (const candidate of candidates) expect(await accepted(candidate), candidate).toBe(false);
    expect(candidates.length).toBeGreaterThan(45);
  });

  it("verify: a token of one kind is none of another", async () => {
    const kinds = ["access", "refresh", "guest"] as const;
    for (const kind of kinds) {
      const claims = { kind, subject: newId(), scope: newId(), expiresAt: clock.now() + HOUR };
      const signed = await tokens.sign(claims);
      for (const door of kinds) {
        const opens = await tokens.verify(signed, [door]).then(
          () => true,
          () => false,
        );
        expect(opens, `${kind} at ${door}`).toBe(kind === door);
      }
    }
  });
});
