import { type DatabaseTransactionConnection, sql } from "slonik";
import type { SegmentRevised, SegmentsReassigned } from "../session/event.ts";

/**
 * Keeps what a person changes of a segment, with the words before and after. Must be called before
 * the segment is changed, and before the edit's text is deleted.
 */
export async function noteEdit(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  { segmentId, label, editId, byUserId }: SegmentRevised,
  at: number,
): Promise<void> {
  await tx.query(sql.unsafe`
    insert into segment_changes (session_id, segment_id, at, by_user_id, label_before, label_after,
      text_before, text_after)
    select s.session_id, s.id, ${moment(at)}, ${byUserId}, s.label, ${label},
      case when e.id is not null then s.text end, e.text
    from segments s left join segment_edits e on e.id = ${editId ?? null}
    where s.session_id = ${sessionId} and s.id = ${segmentId}`);
}

/** The same for segments that a person gave to another speaker. Must be called before that. */
export async function noteReassigned(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  { segments, label, byUserId }: SegmentsReassigned,
  at: number,
): Promise<void> {
  const ids = sql.array(
    segments.map(({ segmentId }) => segmentId),
    "uuid",
  );
  await tx.query(sql.unsafe`
    insert into segment_changes (session_id, segment_id, at, by_user_id, label_before, label_after)
    select session_id, id, ${moment(at)}, ${byUserId}, label, ${label}
    from segments where session_id = ${sessionId} and id = any(${ids})`);
}

function moment(at: number): ReturnType<typeof sql.timestamp> {
  return sql.timestamp(new Date(at));
}
