import { type CommonQueryMethods, sql } from "slonik";
import { z } from "zod";
import { deleteSnapshots } from "../postgres/session-snapshots.ts";
import type { SessionDeleted } from "../session/event.ts";

/**
 * Erases what the journal's projections keep of a session. Of the words `placeholder` stays; times
 * and labels of segments stay for records that refer to them.
 */
export async function eraseProjections(
  tx: CommonQueryMethods,
  { id, placeholder }: { id: string; placeholder: string },
): Promise<void> {
  await tx.query(sql.unsafe`
    update segments set text = ${placeholder}, words = '[]'::jsonb, redacted = true
    where session_id = ${id}`);
  await tx.query(sql.unsafe`delete from segment_changes where session_id = ${id}`);
  await tx.query(sql.unsafe`delete from candidate_segments where session_id = ${id}`);
  await tx.query(sql.unsafe`delete from redo_candidates where session_id = ${id}`);
  await tx.query(sql.unsafe`delete from redactions where session_id = ${id}`);
  await tx.query(sql.unsafe`delete from speaker_claims where session_id = ${id}`);
  await tx.query(sql.unsafe`delete from speaker_merges where session_id = ${id}`);
  // Recogniser state, voice prints, and data from which a new activation would start.
  await tx.query(sql.unsafe`delete from checkpoints where session_id = ${id}`);
  await tx.query(sql.unsafe`delete from suspects where session_id = ${id}`);
  await deleteSnapshots(tx, id);
}

/** Appends the last event of a session; resolves to its time, Unix milliseconds. */
export async function appendDeletion(
  tx: CommonQueryMethods,
  { id, epoch, seq, kind }: { id: string; epoch: number; seq: number; kind: string },
): Promise<number> {
  const event: SessionDeleted = { type: "SessionDeleted", kind };
  return tx.oneFirst(sql.type(z.object({ at: z.number() }))`
    insert into events (session_id, seq, epoch, at, type, payload)
    values (${id}, ${seq}, ${epoch}, date_trunc('milliseconds', now()), ${event.type},
      ${JSON.stringify(event)}::jsonb)
    returning at`);
}
