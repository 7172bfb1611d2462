import type { BackOff } from "../../client/back-off.ts";
import { ApiError, Unreachable, type VoiceError } from "../../client/errors.ts";

/** What to do about an upload that did not get through. */
type NextStep =
  /** The same once more, after a pause. */
  | { readonly kind: "again"; readonly away: "network" | "service" }
  /** From the beginning, into another session: the service has forgotten this one. */
  | { readonly kind: "anew" }
  | { readonly kind: "fail" };

/** A file is sent however long the service is away, unless its person has it otherwise. */
export const UPLOAD_BACK_OFF: BackOff = {
  attempts: Number.POSITIVE_INFINITY,
  firstMs: 1_000,
  longestMs: 30_000,
  longestAskedMs: Number.POSITIVE_INFINITY,
};

export function nextStep(error: VoiceError): NextStep {
  if (error.isRetryable) return { kind: "again", away: awayOf(error) };
  const status = error instanceof ApiError ? error.status : 0;
  if (status === 404 || status === 410 || error.code === "session_ended") return { kind: "anew" };
  return { kind: "fail" };
}

/** What an upload waits for. */
export function awayOf(error: unknown): "network" | "service" {
  return error instanceof Unreachable ? "network" : "service";
}
