import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";
import { AppError, errorMessage } from "../../base/errors.ts";
import { derivedId, isId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { type IdempotencyStore, isRepeatable, mayBeReplayed } from "../../rest/idempotency.ts";
import type { Reply, Request, Route } from "../../rest/route.ts";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

/** An Idempotency-Key as stored for one caller and route. */
interface AnswerKey {
  keyHash: Buffer;
  /**
   * Encrypts the answer. It is derived from the server's secret and the caller's key; the database
   * has neither.
   */
  secret: Buffer;
}

function derive(secret: Uint8Array, salt: string | Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, salt, purpose, KEY_BYTES));
}

/** Hashes keys and encrypts stored answers. */
class EncryptedAnswers {
  readonly #lookup: Buffer;
  readonly #secret: Buffer;

  /** `secret` may have other uses too: the keys used here are derived from it. */
  constructor(secret: Uint8Array) {
    this.#lookup = derive(secret, "", "idempotency lookup");
    this.#secret = derive(secret, "", "idempotency seal");
  }

  /** `parts` identify the key: caller, route, key. */
  key(parts: readonly string[]): AnswerKey {
    const text = JSON.stringify(parts);
    const keyHash = createHmac("sha256", this.#lookup).update(text).digest();
    return { keyHash, secret: derive(this.#secret, keyHash, text) };
  }

  /** A hash that distinguishes requests without revealing what was sent. */
  fingerprint({ secret }: AnswerKey, path: string, body: unknown): Buffer {
    const text = JSON.stringify([path, sorted(body)]);
    return createHmac("sha256", secret).update(text).digest();
  }

  encrypt({ keyHash, secret }: AnswerKey, { status, headers, body }: Reply): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", secret, nonce).setAAD(keyHash);
    const text = JSON.stringify({ status, headers, body });
    const encrypted = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]);
  }

  /** Decrypts an answer. Throws when the bytes were not encrypted with this key. */
  decrypt({ keyHash, secret }: AnswerKey, bytes: Buffer): Reply {
    const body = NONCE_BYTES + TAG_BYTES;
    const decipher = createDecipheriv("aes-256-gcm", secret, bytes.subarray(0, NONCE_BYTES))
      .setAAD(keyHash)
      .setAuthTag(bytes.subarray(NONCE_BYTES, body));
    const text = Buffer.concat([decipher.update(bytes.subarray(body)), decipher.final()]);
    return JSON.parse(text.toString("utf8"));
  }
}

/** Sorts members by name, so that a body with another member order is equal. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return members.map(([name, member]) => [name, sorted(member)]);
}

const KEY = /^[\x21-\x7e]{1,255}$/;

export interface IdempotencyOptions {
  store: IdempotencyStore;
  /** The keys of look-up and encryption are derived from it. */
  secret: Uint8Array;
}

/**
 * Runs a creating request once per Idempotency-Key. Only answers that created something are stored:
 * a refused or failed attempt changed nothing, and frees its key. A command to a session gets the
 * same id whenever it is repeated with its key, even when the first outcome is unknown.
 */
export class Idempotency {
  readonly #store: IdempotencyStore;
  readonly #answers: EncryptedAnswers;
  readonly #log: Log;

  constructor({ store, secret }: IdempotencyOptions, log: Log) {
    this.#store = store;
    this.#answers = new EncryptedAnswers(secret);
    this.#log = log;
  }

  /**
   * Runs `work` unless its answer is stored. `path` is complete with its query. All other checks of
   * the request must have passed.
   */
  run(route: Route, request: Request, path: string, work: () => Promise<Reply>): Promise<Reply> {
    const given = request.headers["idempotency-key"];
    if (given === undefined || !isRepeatable(route)) return work();
    return this.#once(given, route, request, path, work);
  }

  async #once(
    given: string,
    route: Route,
    request: Request,
    path: string,
    work: () => Promise<Reply>,
  ): Promise<Reply> {
    if (!KEY.test(given)) {
      throw new AppError(
        "invalid_parameter",
        "The Idempotency-Key must be 1 to 255 visible ASCII characters.",
      );
    }
    const key = this.#answers.key([callerOf(request), route.id, given]);
    const fingerprint = this.#answers.fingerprint(key, path, request.body);
    request.commandId = derivedId("command", ...hex(key.keyHash, fingerprint));
    if (!mayBeReplayed(route, request)) return work();
    const verdict = await this.#store.begin({ keyHash: key.keyHash, fingerprint });
    if (verdict.kind === "run") return this.#first(key, verdict.attempt, { route, request, work });
    if (verdict.kind === "answered") {
      return repeated(route, request, this.#answers.decrypt(key, verdict.answer));
    }
    // The request becomes the same command, which the session answers the same way each time; and
    // the process that began it may have died, so its key may never be freed.
    if (verdict.kind === "running" && route.throughActor === true) return work();
    throw verdict.kind === "mismatch" ? mismatch() : inProgress();
  }

  async #first(
    key: AnswerKey,
    attempt: string,
    { route, request, work }: { route: Route; request: Request; work: () => Promise<Reply> },
  ): Promise<Reply> {
    let reply: Reply;
    try {
      reply = await work();
    } catch (error) {
      await this.#settle("release", this.#store.release(key.keyHash, attempt));
      throw error;
    }
    const created = reply.status >= 200 && reply.status < 300;
    const settled = created
      ? this.#store.finish(
          key.keyHash,
          attempt,
          this.#answers.encrypt(key, route.repeat === undefined ? reply : idOf(reply)),
          sessionOf(route, request, reply),
        )
      : this.#store.release(key.keyHash, attempt);
    await this.#settle("finish", settled);
    return reply;
  }

  /**
   * Frees or completes the key. A failure is only logged, because the work is done; the key then
   * stays taken for 60 s.
   */
  async #settle(step: string, settled: Promise<void>): Promise<void> {
    await settled.catch((error: unknown) => {
      this.#log.warn({ step, error: errorMessage(error) }, "an idempotency key was not settled");
    });
  }
}

function callerOf({ principal, address }: Request): string {
  return principal === undefined ? `address:${address}` : `${principal.kind}:${principal.id}`;
}

/** The session whose deletion must also delete the stored answer. */
function sessionOf({ repeat }: Route, { params }: Request, { body }: Reply): string | undefined {
  const { id: own, session_id: named } = fieldsOf(body);
  const id = repeat === undefined ? (params.session_id ?? named) : own;
  return typeof id === "string" && isId(id) ? id : undefined;
}

/** What is kept of an answer that has content. */
function idOf({ status, headers, body }: Reply): Reply {
  const { id } = fieldsOf(body);
  return { status, ...(headers !== undefined && { headers }), body: { id } };
}

function fieldsOf(body: unknown): Record<string, unknown> {
  return typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
}

function hex(...hashes: Buffer[]): string[] {
  return hashes.map((hash) => hash.toString("hex"));
}

async function repeated(route: Route, request: Request, kept: Reply): Promise<Reply> {
  const { id } = fieldsOf(kept.body);
  const reply =
    route.repeat === undefined ? kept : { ...kept, ...(await route.repeat(String(id), request)) };
  return { ...reply, headers: { ...reply.headers, "Idempotency-Replayed": "true" } };
}

function mismatch(): AppError {
  return new AppError(
    "idempotency_mismatch",
    "This Idempotency-Key was used for another request. Please send a new one.",
  );
}

function inProgress(): AppError {
  return new AppError(
    "idempotency_in_progress",
    "The first request with this Idempotency-Key is still running. Please try again.",
    { retryAfter: 1 },
  );
}
