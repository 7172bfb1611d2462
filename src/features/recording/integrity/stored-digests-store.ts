import { sql } from "slonik";

type Fragment = ReturnType<typeof sql.fragment>;

/**
 * SQL: SHA-256 in hex of what a chunk's file may hold, as an array; null where an earlier release
 * may have changed the file without a note.
 *
 * @param chunk alias of its row
 */
export function digestsOf(chunk: Fragment): Fragment {
  return sql.fragment`
    case when ${chunk}.stored_sha256 is not null
      or ${chunk}.digest_known and ${chunk}.silence_done = 0
    then array_remove(array[
      encode(coalesce(${chunk}.stored_sha256, ${chunk}.sha256), 'hex'),
      encode(${chunk}.next_sha256, 'hex')
    ], null) end`;
}

/**
 * SQL: the same of a file that several chunks of the session may share, over all of them: a scan of
 * the session's chunks.
 */
export function sharedDigestsOf(sessionId: Fragment, sha256: Fragment): Fragment {
  return sql.fragment`(
    select case when count(each.stored_sha256) > 0
      or bool_and(each.digest_known and each.silence_done = 0)
    then array_remove(
      coalesce(
        array_agg(encode(each.stored_sha256, 'hex')) filter (where each.stored_sha256 is not null),
        array[encode(${sha256}, 'hex')]
      ) || array_agg(encode(each.next_sha256, 'hex')), null) end
    from chunks each where each.session_id = ${sessionId} and each.sha256 = ${sha256})`;
}
