import { type DatabaseTransactionConnection, type FragmentSqlToken, sql } from "slonik";
import { SNAPSHOT_VERSION } from "../session/snapshot.ts";
import type { SessionState } from "../session/state.ts";
import type { Change } from "./append-work.ts";

/**
 * A session's snapshots, one for each version. Releases that know one version only, as those before
 * this table, read and write theirs in the table `snapshots`.
 */
interface Snapshot {
  id: string;
  /** Of the newest event that it stands for. */
  seq: number;
  version: number;
  state: SessionState;
}

/** `seq, version, state` of the newest one that this release can read. */
export function newestSnapshot(sessionId: string): FragmentSqlToken {
  return sql.fragment`
    select seq, version, state
    from (
      select seq, version, state from versioned_snapshots where session_id = ${sessionId}
      union all
      select seq, version, state from snapshots where session_id = ${sessionId}
    ) as kept
    where version <= ${SNAPSHOT_VERSION}
    order by seq desc, version desc limit 1`;
}

/** The same columns of nothing. */
export function noSnapshot(): FragmentSqlToken {
  return sql.fragment`
    select 0::bigint as seq, 0 as version, null::jsonb as state where false`;
}

/** Keeps that of the version before for hosts which know no other; older ones go. */
export function snapshotChanges({ id, seq, version, state }: Snapshot): Change[] {
  const text = JSON.stringify(state);
  const before = version - 1;
  return [
    {
      writes: ["versioned_snapshots, old"],
      sql: (when) => sql.fragment`
        delete from versioned_snapshots
        where session_id = ${id} and version < ${before} and ${when}`,
    },
    {
      writes: ["snapshots"],
      sql: (when) => sql.fragment`
        delete from snapshots where session_id = ${id} and version < ${before} and ${when}`,
    },
    {
      writes: ["versioned_snapshots"],
      sql: (when) => sql.fragment`
        insert into versioned_snapshots (session_id, version, seq, state)
        select ${id}::uuid, ${version}::int, ${seq}::bigint, ${text}::jsonb where ${when}
        on conflict (session_id, version) do update
        set seq = excluded.seq, state = excluded.state, at = now()`,
    },
  ];
}

/** Every one of them, as the session is deleted. */
export async function deleteSnapshots(
  tx: DatabaseTransactionConnection,
  sessionId: string,
): Promise<void> {
  await tx.query(sql.unsafe`
    with versioned as (delete from versioned_snapshots where session_id = ${sessionId})
    delete from snapshots where session_id = ${sessionId}`);
}
