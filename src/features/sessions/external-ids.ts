import { UniqueIntegrityConstraintViolationError } from "slonik";
import { maySession, type SessionFacts } from "../../access/policy.ts";
import type { Principal } from "../../access/principal.ts";
import { AppError, isAppError } from "../../base/errors.ts";

/** Finds the session that has an external id. */
interface Directory {
  byExternalId(workspaceId: string, externalId: string): Promise<string | undefined>;
  facts(principal: Principal, sessionId: string): Promise<SessionFacts | undefined>;
}

const INDEX = "sessions_external_id";

/** Rejects with `external_id_taken` where the database says that another session has the id. */
export async function orTaken<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const isTaken = error instanceof UniqueIntegrityConstraintViolationError;
    throw isTaken && error.constraint === INDEX ? taken(undefined) : error;
  }
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
    throw mayRead ? taken(other) : error;
  }
}

function taken(other: string | undefined): AppError {
  const which = other === undefined ? "Another session" : `Session ${other}`;
  const message = `${which} of this workspace has this \`external_id\` already.`;
  return new AppError("external_id_taken", message);
}
