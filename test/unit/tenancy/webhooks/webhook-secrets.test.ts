import { describe, expect, it } from "vitest";
import { WebhookSecrets } from "../../../../src/tenancy/webhooks/secrets.ts";

const KEY = new Uint8Array(32).fill(1);

describe("webhook secrets", () => {
  it("open gives back what create showed; at rest it is not to be seen", () => {
    const secrets = new WebhookSecrets(KEY);
    const { secret, encrypted } = secrets.create("w1");
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(secrets.decrypt("w1", encrypted)).toBe(secret);
    expect(encrypted.includes(secret.slice(6))).toBe(false);
    expect(secrets.create("w1").secret).not.toBe(secret);
  });

  it("another key, another webhook or a changed byte opens nothing", () => {
    const secrets = new WebhookSecrets(KEY);
    const { encrypted } = secrets.create("w1");
    expect(() => secrets.decrypt("w2", encrypted)).toThrow();
    expect(() => new WebhookSecrets(new Uint8Array(32)).decrypt("w1", encrypted)).toThrow();
    const changed = Buffer.from(encrypted);
    changed.writeUInt8(changed.readUInt8(40) ^ 1, 40);
    expect(() => secrets.decrypt("w1", changed)).toThrow();
    expect(() => secrets.decrypt("w1", encrypted.subarray(0, 20))).toThrow();
  });
});
