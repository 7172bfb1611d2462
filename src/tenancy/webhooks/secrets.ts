import { randomBytes } from "node:crypto";
import { Sealer } from "../../access/sealer.ts";

const PREFIX = "whsec_";
const SECRET_BYTES = 32;

/**
 * Creates and decrypts signing secrets in the format of Standard Webhooks. Signing needs their
 * text, so they are stored encrypted rather than hashed, each bound to its webhook.
 */
export class WebhookSecrets {
  readonly #sealer: Sealer;

  /** @param key 32 bytes */
  constructor(key: Uint8Array) {
    this.#sealer = new Sealer(key);
  }

  /**
   * Creates a secret: `secret` is its text, to be shown once, `sealed` its encrypted form for the
   * store.
   */
  create(webhookId: string): { secret: string; sealed: Buffer } {
    const secret = PREFIX + randomBytes(SECRET_BYTES).toString("base64");
    return { secret, sealed: this.#sealer.seal(webhookId, Buffer.from(secret)) };
  }

  /**
   * Decrypts a secret. Throws when it was encrypted with another key or for another webhook, or was
   * changed since.
   */
  open(webhookId: string, sealed: Uint8Array): string {
    return this.#sealer.open(webhookId, sealed).toString("utf8");
  }
}
