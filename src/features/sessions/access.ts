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

/** What tells whether somebody may reach a session, and keeps what only an elevation opened. */
export type SessionAccess = Pick<SessionStore, "facts" | "recordContentRead">;

export interface SessionGrant {
  principal: Principal;
  facts: SessionFacts;
}

/** Throws the refusal of a verdict other than `allow`. */
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
 * 404 for an unknown session, 403 when the caller's relation to it forbids
 * `action`. What only an elevation opens is put on record.
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

/** The same for a read that goes on and is on record already. */
export async function recheckSession(
  directory: SessionAccess,
  caller: Principal | undefined,
  sessionId: string,
  action: SessionAction,
): Promise<SessionGrant> {
  const principal = requirePrincipal(caller);
  const facts = isId(sessionId) ? await directory.facts(principal, sessionId) : undefined;
  if (facts === undefined) throw unknownThing("session", sessionId);
  const verdict = maySession(principal, action, facts);
  if (verdict === "not_found") throw unknownThing("session", sessionId);
  if (verdict === "forbidden" && principal.kind === "service") throw missingScope(action);
  assertAllowed(verdict);
  return { principal, facts };
}

/**
 * What an elevation opens is written to the audit log before it is shown:
 * rejects, and so shows nothing, when the entry cannot be written.
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
