import { type FragmentSqlToken as Fragment, sql } from "slonik";

/** The kind of the audit entry of a session's deletion, or null; `sessionId` is a column. */
export function deletionKindOf(sessionId: Fragment): Fragment {
  return sql.fragment`(
    select a.kind from audit_log a
    where a.session_id = ${sessionId} and a.kind in (
      'session_deleted_by_owner', 'session_deleted_by_admin',
      'account_erasure_session_redacted', 'retention_session_redacted')
    order by a.seq desc limit 1)`;
}
