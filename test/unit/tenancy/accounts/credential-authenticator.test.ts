import { exportJWK, generateKeyPair } from "jose";
import { beforeEach, describe, expect, it } from "vitest";
import { AppError } from "../../../../src/base/errors.ts";
import { newId } from "../../../../src/base/ids.ts";
import { CredentialAuthenticator } from "../../../../src/tenancy/accounts/credential-authenticator.ts";
import type { LoginStatus } from "../../../../src/tenancy/accounts/sign-in-store.ts";
import { importSigningKey, KeyRing, Tokens } from "../../../../src/tenancy/accounts/tokens.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { LocalRevocations } from "../../../support/memory/local-revocations.ts";
import { codeOf } from "../../../support/route-call.ts";

const HOUR = 3_600_000;
const nobody = async () => undefined;

describe("authenticator", () => {
  const userId = newId();
  const loginId = newId();
  let clock: ManualClock;
  let revocations: LocalRevocations;
  let lookUps: number;
  let lookUp: () => LoginStatus | undefined;
  let authenticator: CredentialAuthenticator;
  let headers: Record<string, string>;

  beforeEach(async () => {
    clock = new ManualClock();
    revocations = new LocalRevocations();
    lookUps = 0;
    const expiresAt = clock.now() + HOUR;
    const who = { loginId, userId, email: "", name: "", role: "moderator" } as const;
    lookUp = () => ({ ...who, expiresAt, refreshable: true });
    const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true });
    const ring = new KeyRing([await importSigningKey(await exportJWK(privateKey))]);
    const tokens = new Tokens(ring, clock);
    const claims = { kind: "access", subject: userId, scope: loginId, expiresAt } as const;
    headers = { authorization: `Bearer ${await tokens.sign(claims)}` };
    const status = async () => {
      lookUps += 1;
      return lookUp();
    };
    authenticator = new CredentialAuthenticator({
      tokens,
      logins: { status },
      guests: { status: nobody },
      serviceKeys: { statusByHash: nobody, statusBySecret: nobody },
      deviceKeys: { statusByHash: nobody, statusByKey: nobody },
      revocations,
      clock,
    });
  });

  const ask = () => authenticator.authenticate(headers, ["bearer"]);

  it("cache: one look-up for 2 s and for those who ask at once, then another", async () => {
    await Promise.all([ask(), ask(), ask()]);
    clock.advance(1_999);
    expect((await ask()).id).toBe(userId);
    expect(lookUps).toBe(1);
    clock.advance(1);
    await ask();
    expect(lookUps).toBe(2);
  });

  it("revocation: forgets at once", async () => {
    await ask();
    lookUp = () => undefined;
    revocations.publish({ kind: "user", userId });
    expect(await codeOf(ask())).toBe("invalid_token");
  });

  it("end by time: with the token or with its login, whichever ends first", async () => {
    const expiresAt = clock.now() + HOUR / 2;
    const answer = lookUp();
    lookUp = () => answer && { ...answer, expiresAt };
    const caller = await ask();
    expect(caller.expiresAt).toBe(expiresAt);
    expect((await authenticator.revalidate(caller)).expiresAt).toBe(expiresAt);
  });

  it("outage: passed on as it is, and not remembered", async () => {
    const answer = lookUp;
    lookUp = () => {
      throw new AppError("unavailable", "away");
    };
    expect(await codeOf(ask())).toBe("unavailable");
    lookUp = answer;
    expect(await ask()).toMatchObject({ kind: "user", role: "moderator", tokenId: loginId });
  });

  it("credential: a bearer proves nothing where a device key is needed, and the other way round", async () => {
    expect(await codeOf(authenticator.authenticate(headers, ["device_key"]))).toBe("unauthorized");
    const key = { "x-api-key": "vk_dev_x" };
    expect(await codeOf(authenticator.authenticate(key, ["bearer"]))).toBe("unauthorized");
    expect(await codeOf(authenticator.authenticate(key, ["device_key"]))).toBe("invalid_api_key");
    expect(await codeOf(authenticator.authenticate({}, ["bearer"]))).toBe("unauthorized");
    expect(await codeOf(authenticator.authenticate(headers, []))).toBe("unauthorized");
    expect(lookUps).toBe(0);
  });
});
