import { type FragmentSqlToken as Fragment, sql } from "slonik";

/**
 * An expression that changes whenever a session's words, voices or their names
 * do. `sessionId` is a value or a column of the query around it.
 */
export function transcriptFingerprint(sessionId: Fragment): Fragment {
  return sql.fragment`sha256(convert_to(
    coalesce((
      select string_agg(
        g.id::text || ' ' || g.revision || ' ' || g.label || ' ' || md5(g.text), E'\n'
        order by g.start_sample, g.id)
      from segments g where g.session_id = ${sessionId}), '')
    || E'\n\n' ||
    coalesce((
      select string_agg(c.label || ' ' || c.claimed_user_id::text, E'\n' order by c.label)
      from speaker_claims c where c.session_id = ${sessionId} and c.revoked_at is null), ''),
    'UTF8'))`;
}
