import {
  maySession,
  readsByElevation,
  type SessionAction,
  type SessionFacts,
  scopeFor,
  type Verdict,
} from "../../access/policy.ts";
import type { Principal } from "../../access/principal.ts";
import { AppError, unknownThing } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import { requirePrincipal } from "../../rest/callers.ts";
import type { SessionStore } from "./store.ts";

const REFUSALS: Record<Exclude<Verdict, "allow">, () => AppError> = {
  not_found: () => new AppError("not_found", "There is no session with this id."),
  forbidden: () => new AppError("forbidden", "You do not have access to this session."),
  elevation_required: () =>
    new AppError(
      "elevation_required",
      "This session's content is closed to administrators without an elevation. Ask for one with a reason at POST /api/admin/content-elevate.",
    ),
  guest_access_closed: () =>
    new AppError("guest_access_closed", "Guests no longer have access to this session."),
};

/** Reads a session's facts for access checks, and records reads that only an elevation allowed. */
export type SessionAccess = Pick<SessionStore, "facts" | "recordContentRead">;

export interface SessionGrant {
  principal: Principal;
  facts: SessionFacts;
}

/** Throws 403 or 404 when the caller may not do `action` to the session of the grant. */
export function requireAction({ principal, facts }: SessionGrant, action: SessionAction): void {
  const verdict = maySession(principal, action, facts);
  if (verdict === "forbidden" && principal.kind === "service") throw missingScope(action);
  assertAllowed(verdict);
}

/** Throws the error of a verdict other than `allow`. */
export function assertAllowed(verdict: Verdict): void {
  if (verdict !== "allow") throw REFUSALS[verdict]();
}

function missingScope(action: SessionAction): AppError {
  const scope = scopeFor(action);
  const message =
    scope === undefined ? "A service key cannot do this." : `This key lacks the scope ${scope}.`;
  return new AppError("forbidden", message);
}

/**
 * Returns the session if the caller may do `action` to it. Throws 404 for an unknown session, 403
 * when the caller's relation to it forbids `action`. Records reads that only an elevation allowed.
 */
export async function requireSession(
  directory: SessionAccess,
  caller: Principal | undefined,
  sessionId: string,
  action: SessionAction,
): Promise<SessionGrant> {
  const grant = await recheckSession(directory, caller, sessionId, action);
  await recordElevatedRead(directory, grant.principal, action, grant.facts);
  return grant;
}

/** Checks again during a long read, which is recorded already. */
export async function recheckSession(
  directory: SessionAccess,
  caller: Principal | undefined,
  sessionId: string,
  action: SessionAction,
): Promise<SessionGrant> {
  const principal = requirePrincipal(caller);
  const facts = isId(sessionId) ? await directory.facts(principal, sessionId) : undefined;
  if (facts === undefined) throw unknownThing("session", sessionId);
  const grant = { principal, facts };
  if (maySession(principal, action, facts) === "not_found") {
    throw unknownThing("session", sessionId);
  }
  requireAction(grant, action);
  return grant;
}

/**
 * Records a read that only an elevation allowed. Must succeed before the content is shown: rejects
 * when the entry cannot be written.
 */
export async function recordElevatedRead(
  directory: Pick<SessionStore, "recordContentRead">,
  principal: Principal,
  action: SessionAction,
  facts: SessionFacts,
): Promise<void> {
  if (!readsByElevation(principal, action, facts)) return;
  await directory.recordContentRead(principal, facts.id, action);
}
