import { type DatabaseTransactionConnection, type FragmentSqlToken, sql } from "slonik";
import { SNAPSHOT_VERSION } from "../session/snapshot.ts";
import type { Change } from "./append-work.ts";

/** A snapshot of a session; there is one for each version of the format. */
interface Snapshot {
  id: string;
  /** Seq of the newest event in the snapshot. */
  seq: number;
  version: number;
  state: unknown;
}

/**
 * SQL for `seq, state` of the snapshot that this release can read; `sessionId` is an expression.
 */
export function ownSnapshot(sessionId: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`
    select seq, state from versioned_snapshots
    where session_id = ${sessionId} and version = ${SNAPSHOT_VERSION}`;
}

/** SQL for the same columns without a row. */
export function noSnapshot(): FragmentSqlToken {
  return sql.fragment`
    select 0::bigint as seq, null::jsonb as state where false`;
}

/**
 * Stores a snapshot. Keeps that of the previous version for hosts of the previous release; deletes
 * older ones.
 */
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
      writes: ["versioned_snapshots"],
      sql: (when) => sql.fragment`
        insert into versioned_snapshots (session_id, version, seq, state)
        select ${id}::uuid, ${version}::int, ${seq}::bigint, ${text}::jsonb where ${when}
        on conflict (session_id, version) do update
        set seq = excluded.seq, state = excluded.state, at = now()`,
    },
  ];
}

/** Deletes all snapshots of a session, when the session is deleted. */
export async function deleteSnapshots(
  tx: DatabaseTransactionConnection,
  sessionId: string,
): Promise<void> {
  await tx.query(sql.unsafe`
    delete from versioned_snapshots where session_id = ${sessionId}`);
}
