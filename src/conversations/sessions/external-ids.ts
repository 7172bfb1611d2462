import { maySession, type SessionFacts } from "../../access/policy.ts";
import type { Principal } from "../../access/principal.ts";
import { isAppError } from "../../base/errors.ts";
import { externalIdTaken } from "./external-ids-store.ts";

/** Finds the session that has an external id. */
interface Directory {
  byExternalId(workspaceId: string, externalId: string): Promise<string | undefined>;
  facts(principal: Principal, sessionId: string): Promise<SessionFacts | undefined>;
}

/**
 * Does what may be refused with `external_id_taken`, and then names the other session to a caller
 * who may read it.
 */
export async function namingTheOther<T>(
  directory: Directory,
  principal: Principal,
  { workspaceId, externalId }: { workspaceId: string; externalId: string | null | undefined },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isAppError(error, "external_id_taken") || typeof externalId !== "string") throw error;
    const other = await directory.byExternalId(workspaceId, externalId);
    const facts = other === undefined ? undefined : await directory.facts(principal, other);
    const mayRead = facts !== undefined && maySession(principal, "session.read", facts) === "allow";
    throw mayRead ? externalIdTaken(other) : error;
  }
}
