import { newId } from "../../../src/base/ids.ts";
import type {
  IdempotencyEntry,
  IdempotencyStore,
  IdempotencyVerdict,
} from "../../../src/rest/idempotency.ts";

interface Kept {
  attempt: string;
  fingerprint: Buffer;
  answer: Buffer | undefined;
  sessionId: string | undefined;
  expiresAt: number;
}

/** The twin of the database's book. */
export class MemoryIdempotencyStore implements IdempotencyStore {
  readonly deleted = new Set<string>();
  readonly #kept = new Map<string, Kept>();
  #now = 0;

  /** Lets time pass. */
  pass(milliseconds: number): void {
    this.#now += milliseconds;
  }

  deleteSession(id: string): void {
    this.deleted.add(id);
    for (const [key, kept] of this.#kept) if (kept.sessionId === id) this.#kept.delete(key);
  }

  async begin({ keyHash, fingerprint }: IdempotencyEntry): Promise<IdempotencyVerdict> {
    const key = keyHash.toString("hex");
    const kept = this.#kept.get(key);
    if (kept === undefined || kept.expiresAt <= this.#now) {
      const attempt = newId();
      const expiresAt = this.#now + 60_000;
      const fresh = { attempt, fingerprint, answer: undefined, sessionId: undefined, expiresAt };
      this.#kept.set(key, fresh);
      return { kind: "run", attempt };
    }
    if (!kept.fingerprint.equals(fingerprint)) return { kind: "mismatch" };
    return kept.answer === undefined
      ? { kind: "running" }
      : { kind: "answered", answer: kept.answer };
  }

  async finish(
    keyHash: Buffer,
    attempt: string,
    answer: Buffer,
    sessionId: string | undefined,
  ): Promise<void> {
    if (sessionId !== undefined && this.deleted.has(sessionId)) {
      return this.release(keyHash, attempt);
    }
    const kept = this.#kept.get(keyHash.toString("hex"));
    if (kept?.attempt !== attempt) return;
    Object.assign(kept, { answer, sessionId, expiresAt: this.#now + 24 * 3_600_000 });
  }

  async release(keyHash: Buffer, attempt: string): Promise<void> {
    const key = keyHash.toString("hex");
    if (this.#kept.get(key)?.attempt === attempt) this.#kept.delete(key);
  }
}
