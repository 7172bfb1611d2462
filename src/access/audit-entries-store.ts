import { type CommonQueryMethods, sql } from "slonik";
import { newId } from "../base/ids.ts";
import type { AuditEntry } from "./audit-entry.ts";

/**
 * Appends an audit entry inside the caller's transaction, so that either both the change and its
 * entry are stored or neither. The database numbers and chains entries; until the transaction ends
 * no other entry can be written, so this must come last in a transaction.
 *
 * @param id derived from what happened; an entry with the same id is written only once
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
