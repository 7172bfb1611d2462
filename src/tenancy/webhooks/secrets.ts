import { randomBytes } from "node:crypto";
import { Encryption } from "../../access/encryption.ts";

const PREFIX = "whsec_";
const SECRET_BYTES = 32;

/**
 * Creates and decrypts signing secrets in the format of Standard Webhooks. Signing needs their
 * text, so they are stored encrypted rather than hashed, each bound to its webhook.
 */
export class WebhookSecrets {
  readonly #encryption: Encryption;

  /** @param key 32 bytes */
  constructor(key: Uint8Array) {
    this.#encryption = new Encryption(key);
  }

  /** Creates a secret: `secret` is its text, to be shown once, `encrypted` its form for the store. */
  create(webhookId: string): { secret: string; encrypted: Buffer } {
    const secret = PREFIX + randomBytes(SECRET_BYTES).toString("base64");
    return { secret, encrypted: this.#encryption.encrypt(webhookId, Buffer.from(secret)) };
  }

  /**
   * Decrypts a secret. Throws when it was encrypted with another key or for another webhook, or was
   * changed since.
   */
  decrypt(webhookId: string, encrypted: Uint8Array): string {
    return this.#encryption.decrypt(webhookId, encrypted).toString("utf8");
  }
}
