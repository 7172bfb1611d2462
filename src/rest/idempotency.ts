import { newId } from "../base/ids.ts";
import type { Request, Route } from "./route.ts";
import { mayAnswerSecrets } from "./secret-answers.ts";

/** The store's verdict on a request with an Idempotency-Key. */
export type IdempotencyVerdict =
  /** The key is free: the caller runs the request as `attempt`. */
  | { kind: "run"; attempt: string }
  | { kind: "running" }
  | { kind: "mismatch" }
  /** The encrypted first answer. */
  | { kind: "answered"; answer: Buffer };

/** Identifies a request; neither member reveals what was sent. */
export interface IdempotencyEntry {
  keyHash: Buffer;
  fingerprint: Buffer;
}

/**
 * Port: stores the first answer of each key. Of requests that begin at once with one key, only one
 * may run. A run that neither finishes nor is released counts as dead after 60 s; answers are kept
 * for 24 h.
 */
export interface IdempotencyStore {
  begin(entry: IdempotencyEntry): Promise<IdempotencyVerdict>;
  /**
   * Stores the encrypted answer, unless the attempt is no longer the running one or its session was
   * deleted meanwhile.
   */
  finish(
    keyHash: Buffer,
    attempt: string,
    answer: Buffer,
    sessionId: string | undefined,
  ): Promise<void>;
  /** Frees the key, because the attempt failed. */
  release(keyHash: Buffer, attempt: string): Promise<void>;
}

/**
 * True when the route takes an Idempotency-Key: every POST that creates something, and every
 * command to a session. Uploads are identified by their sequence instead.
 */
export function isRepeatable(route: Route): boolean {
  return storesAnswer(route) || route.throughActor === true;
}

/**
 * True when the answer is stored and repeated. Answers to other commands are made again: the
 * session knows what it has done, and the words in an answer may be erased meanwhile.
 */
export function storesAnswer(route: Route): boolean {
  if (route.method !== "post" || (route.body?.kind ?? "json") !== "json") return false;
  if (route.calls === true) return false;
  if (route.auth.length === 0 && mayAnswerSecrets(route)) return false;
  return 201 in route.responses || 202 in route.responses;
}

/**
 * True when an answer may be repeated to this caller. Callers without a name are known by their
 * address only, which they may share with strangers: none of them gets a secret made for another.
 */
export function mayBeReplayed(route: Route, { principal }: Pick<Request, "principal">): boolean {
  return storesAnswer(route) && (principal !== undefined || !mayAnswerSecrets(route));
}

/** The id of the command that a request becomes. */
export function commandIdOf({ commandId }: Pick<Request, "commandId">): string {
  return commandId ?? newId();
}
