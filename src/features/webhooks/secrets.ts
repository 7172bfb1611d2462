import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const ALGORITHM = "aes-256-gcm";
const PREFIX = "whsec_";
const SECRET_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Creates and decrypts signing secrets in the format of Standard Webhooks. Signing needs their
 * text, so they are stored encrypted rather than hashed, each bound to its webhook.
 */
export class WebhookSecrets {
  readonly #key: Uint8Array;

  /** @param key 32 bytes */
  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /**
   * Creates a secret: `secret` is its text, to be shown once, `sealed` its encrypted form for the
   * store.
   */
  create(webhookId: string): { secret: string; sealed: Buffer } {
    const secret = PREFIX + randomBytes(SECRET_BYTES).toString("base64");
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.#key, nonce).setAAD(Buffer.from(webhookId));
    const hidden = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
    return { secret, sealed: Buffer.concat([nonce, cipher.getAuthTag(), hidden]) };
  }

  /**
   * Decrypts a secret. Throws when it was encrypted with another key or for another webhook, or was
   * changed since.
   */
  open(webhookId: string, sealed: Uint8Array): string {
    const nonce = sealed.subarray(0, NONCE_BYTES);
    const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
    const decipher = createDecipheriv(ALGORITHM, this.#key, nonce, { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(webhookId))
      .setAuthTag(tag);
    const hidden = sealed.subarray(NONCE_BYTES + TAG_BYTES);
    return Buffer.concat([decipher.update(hidden), decipher.final()]).toString("utf8");
  }
}
