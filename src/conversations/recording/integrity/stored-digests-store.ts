import { type CommonQueryMethods, sql } from "slonik";

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

/** A file of a session by the SHA-256 in hex of what was sent, and the one of what is to be stored. */
interface StoredFile {
  sessionId: string;
  blob: string;
  sha256: string;
}

/** Notes what the file of some chunks will hold, before it is replaced. */
export async function noteNextFile(
  tx: CommonQueryMethods,
  { sessionId, blob, sha256 }: StoredFile,
): Promise<void> {
  await tx.query(sql.unsafe`
    update chunks set next_sha256 = decode(${sha256}, 'hex')
    where session_id = ${sessionId} and sha256 = decode(${blob}, 'hex')`);
}

/** Notes that a file was replaced, at all chunks that share it. */
export async function noteStoredFile(
  tx: CommonQueryMethods,
  { sessionId, blob, sha256, bytes }: StoredFile & { bytes: number },
): Promise<void> {
  await tx.query(sql.unsafe`
    update chunks
    set stored_sha256 = decode(${sha256}, 'hex'), next_sha256 = null, bytes = ${bytes}
    where session_id = ${sessionId} and sha256 = decode(${blob}, 'hex')`);
}

/** Notes that a chunk is silent as far as `wanted` says. */
export async function noteSilence(
  tx: CommonQueryMethods,
  chunk: { sessionId: string; sequence: number; wanted: number; bytes: number },
): Promise<void> {
  await tx.query(sql.unsafe`
    update chunks set silence_done = ${chunk.wanted}, bytes = ${chunk.bytes}
    where session_id = ${chunk.sessionId} and sequence = ${chunk.sequence}`);
}
