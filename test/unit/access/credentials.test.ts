import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { bearerOf, isDeviceKey, newDeviceKey, randomText } from "../../../src/access/secrets.ts";
import { isAppError } from "../../../src/base/errors.ts";
import { PasswordHasher } from "../../../src/tenancy/accounts/passwords.ts";
import { loadKeyFolder, parseKeyMaterial } from "../../../src/tenancy/accounts/signing-keys.ts";
import {
  newPairingCode,
  normalisePairingCode,
  pairingCodeHash,
  showPairingCode,
} from "../../../src/tenancy/devices/pairing.ts";

describe("device keys", () => {
  it("form: made keys are recognised, any single typing mistake is not", () => {
    for (let round = 0; round < 50; round += 1) {
      const key = newDeviceKey();
      expect(key).toMatch(/^vk_dev_[0-9A-Za-z]{38}$/);
      expect(isDeviceKey(key)).toBe(true);
      const at = 7 + (round % 38);
      const typo = key.slice(0, at) + (key[at] === "a" ? "b" : "a") + key.slice(at + 1);
      expect(isDeviceKey(typo)).toBe(false);
    }
  });

  it("form: nothing else is one", () => {
    fc.assert(fc.property(fc.string(), (text) => !isDeviceKey(text)));
    fc.assert(fc.property(fc.string(), (text) => !isDeviceKey(`vk_dev_${text}`)));
  });
});

describe("pairing codes", () => {
  it("code: eight consonants, read without case, dashes and spaces", () => {
    const code = newPairingCode();
    expect(code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{8}$/);
    const shown = showPairingCode(code);
    expect(shown).toBe(`${code.slice(0, 4)}-${code.slice(4)}`);
    expect(normalisePairingCode(` ${shown.toLowerCase()} `)).toBe(code);
    expect(normalisePairingCode("12345")).toBeUndefined();
    expect(normalisePairingCode("ÄÖÜ-ÄÖÜ")).toBeUndefined();
  });

  it("hash: depends on the pepper", () => {
    const one = pairingCodeHash(new Uint8Array(32), "BCDFGHJK");
    expect(one.equals(pairingCodeHash(new Uint8Array(32).fill(1), "BCDFGHJK"))).toBe(false);
    expect(one.equals(pairingCodeHash(new Uint8Array(32), "BCDFGHJK"))).toBe(true);
  });
});

describe("random text", () => {
  it("letters: all come, about equally often", () => {
    const counts = new Map<string, number>();
    for (const letter of randomText(62_000)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    expect(counts.size).toBe(62);
    // Chi-squared with 61 degrees of freedom is below 140 but for one run in ten million.
    const chiSquared = [...counts.values()].reduce((sum, n) => sum + (n - 1000) ** 2 / 1000, 0);
    expect(chiSquared).toBeLessThan(140);
  });
});

describe("bearer", () => {
  it("header: one token, any case of the scheme, nothing else", () => {
    expect(bearerOf({ authorization: "bearer abc.def" })).toBe("abc.def");
    expect(bearerOf({ authorization: "Bearer a b" })).toBeUndefined();
    expect(bearerOf({ authorization: "Basic YTpi" })).toBeUndefined();
    expect(bearerOf({})).toBeUndefined();
  });
});

describe("passwords", () => {
  it("verify: right, wrong, and no account at all", async () => {
    const passwords = new PasswordHasher();
    const hashed = await passwords.hash("correct horse");
    expect(hashed).toMatch(/^\$argon2id\$v=19\$m=47104,t=1,p=1\$/);
    expect(passwords.isOutdated(hashed)).toBe(false);
    expect(await passwords.verify(hashed, "correct horse")).toBe(true);
    expect(await passwords.verify(hashed, "wrong horse")).toBe(false);
    expect(await passwords.verify(undefined, "correct horse")).toBe(false);
  });

  it("load: what does not fit into the queue is refused, the rest is done", async () => {
    const passwords = new PasswordHasher({ concurrency: 1, queue: 3 });
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, () => passwords.hash("correct horse")),
    );
    const refused = results.filter((result) => result.status === "rejected");
    expect(refused).toHaveLength(4);
    for (const { reason } of refused) expect(isAppError(reason, "overloaded")).toBe(true);
    expect(await passwords.hash("again")).toMatch(/^\$argon2id/);
  });
});

describe("key folder", () => {
  const folders: string[] = [];
  const newFolder = () => {
    const folder = mkdtempSync(join(tmpdir(), "key-folder-"));
    folders.push(folder);
    return join(folder, "keys");
  };

  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });

  it("start: several at once end up with the same keys, readable by their owner only", async () => {
    const folder = newFolder();
    const loaded = await Promise.all(Array.from({ length: 8 }, () => loadKeyFolder(folder)));
    expect(new Set(loaded.map((keys) => keys.ring.newest.kid)).size).toBe(1);
    expect(new Set(loaded.map((keys) => Buffer.from(keys.pepper).toString("hex"))).size).toBe(1);
    expect(new Set(loaded.map((keys) => Buffer.from(keys.cursorKey).toString("hex"))).size).toBe(1);
    const names = readdirSync(folder).sort();
    expect(names).toEqual(["cursor.secret", "pairing.secret", "signing-0001.jwk"]);
    for (const name of names) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  });

  it("environment: bad keys are refused with the reason", async () => {
    await expect(parseKeyMaterial('{"signing":[]}')).rejects.toThrow("signing key");
    await expect(parseKeyMaterial('{"signing":[{"kty":"RSA"}]}')).rejects.toThrow("Ed25519");
    await expect(parseKeyMaterial("[]")).rejects.toThrow("signing");
  });
});
