import { type CommonQueryMethods, sql } from "slonik";
import { newId } from "../base/ids.ts";
import type { AuditEntry } from "./audit-entry.ts";

/**
 * Appends an audit entry inside the caller's transaction, so that what it
 * records and the entry stand or fall together. The database numbers and
 * chains it; until the transaction ends no other entry can be written, so this
 * comes last in a transaction.
 *
 * @param id one that follows from what happened makes the entry come once, however often it is told
 */
export async function insertAuditEntry(
  connection: Pick<CommonQueryMethods, "query">,
  entry: AuditEntry,
  id: string = newId(),
): Promise<void> {
  const { kind, actor, workspaceId, sessionId, subjectId, detail } = entry;
  await connection.query(sql.unsafe`
    insert into audit_log (id, kind, actor_kind, actor_id, workspace_id, session_id, subject_id, detail)
    values (${id}, ${kind}, ${actor.kind}, ${actor.id ?? null}, ${workspaceId ?? null},
      ${sessionId ?? null}, ${subjectId ?? null}, ${JSON.stringify(detail ?? {})}::jsonb)
    on conflict (id) do nothing`);
}
