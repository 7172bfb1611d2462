import { newId } from "../base/ids.ts";
import type { Request, Route } from "./route.ts";

/** What the book says to a request that carries an Idempotency-Key. */
export type IdempotencyVerdict =
  /** Nobody has this key: the caller runs the request as `attempt`. */
  | { kind: "run"; attempt: string }
  | { kind: "running" }
  | { kind: "mismatch" }
  /** The sealed first answer. */
  | { kind: "answered"; answer: Buffer };

/** How a request is known: neither member shows what was sent. */
export interface IdempotencyEntry {
  keyHash: Buffer;
  fingerprint: Buffer;
}

/**
 * Port: first answers by key. Of requests that begin at once with one key, one
 * alone is told to run. A run that neither finishes nor is released counts as
 * dead after 60 s; answers are kept for 24 h.
 */
export interface IdempotencyStore {
  begin(entry: IdempotencyEntry): Promise<IdempotencyVerdict>;
  /**
   * Keeps the sealed answer, unless the attempt is no longer the one that runs
   * or its session was deleted meanwhile.
   */
  finish(
    keyHash: Buffer,
    attempt: string,
    answer: Buffer,
    sessionId: string | undefined,
  ): Promise<void>;
  /** Frees the key: the attempt came to nothing. */
  release(keyHash: Buffer, attempt: string): Promise<void>;
}

/**
 * Does the route take an Idempotency-Key? Every POST that creates does, and
 * every wish to a session; uploads are known by their sequence instead.
 */
export function isRepeatable(route: Route): boolean {
  return isKept(route) || route.wish === true;
}

/**
 * Is its answer kept, and given again? That of another wish is made anew: the
 * session knows what it has done, and the words in an answer may go meanwhile.
 */
export function isKept(route: Route): boolean {
  if (route.method !== "post" || route.body?.kind === "upload") return false;
  return 201 in route.responses || 202 in route.responses;
}

/** The id for the command that a request comes to. */
export function commandIdOf({ commandId }: Pick<Request, "commandId">): string {
  return commandId ?? newId();
}
