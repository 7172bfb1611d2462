import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";
import type { Reply } from "../../rest/route.ts";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

/** What an Idempotency-Key is worth for one caller and route. */
export interface AnswerKey {
  keyHash: Buffer;
  /** Encrypts the answer: needs the server's secret and the caller's key, of which the database has neither. */
  secret: Buffer;
}

function derive(secret: Uint8Array, salt: string | Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, salt, purpose, KEY_BYTES));
}

/** Keyed hashes and encryption of kept answers. */
export class SealedAnswers {
  readonly #lookup: Buffer;
  readonly #seal: Buffer;

  /** `secret` may serve elsewhere too: the keys used here are derived from it. */
  constructor(secret: Uint8Array) {
    this.#lookup = derive(secret, "", "idempotency lookup");
    this.#seal = derive(secret, "", "idempotency seal");
  }

  /** `parts` say whose key it is: caller, route, key. */
  key(parts: readonly string[]): AnswerKey {
    const text = JSON.stringify(parts);
    const keyHash = createHmac("sha256", this.#lookup).update(text).digest();
    return { keyHash, secret: derive(this.#seal, keyHash, text) };
  }

  /** Tells equal requests from others without showing what was sent. */
  fingerprint({ secret }: AnswerKey, path: string, body: unknown): Buffer {
    const text = JSON.stringify([path, sorted(body)]);
    return createHmac("sha256", secret).update(text).digest();
  }

  seal({ keyHash, secret }: AnswerKey, { status, headers, body }: Reply): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", secret, nonce).setAAD(keyHash);
    const text = JSON.stringify({ status, headers, body });
    const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
  }

  /** Throws when the bytes are not what was sealed under this key. */
  open({ keyHash, secret }: AnswerKey, bytes: Buffer): Reply {
    const body = NONCE_BYTES + TAG_BYTES;
    const decipher = createDecipheriv("aes-256-gcm", secret, bytes.subarray(0, NONCE_BYTES))
      .setAAD(keyHash)
      .setAuthTag(bytes.subarray(NONCE_BYTES, body));
    const text = Buffer.concat([decipher.update(bytes.subarray(body)), decipher.final()]);
    return JSON.parse(text.toString("utf8"));
  }
}

/** Members in order of their names, so that the same body is the same however it is spelled. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return members.map(([name, member]) => [name, sorted(member)]);
}
