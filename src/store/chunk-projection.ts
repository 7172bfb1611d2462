import { type DatabaseTransactionConnection, sql } from "slonik";
import type { Recorded } from "../actor/journal.ts";
import type { SessionEvent } from "../session/event.ts";

type ChunkRow = [
  sequence: number,
  status: string,
  error: string,
  start: number | null,
  length: number | null,
];

/** What a batch leaves each chunk with: one statement however many there are. */
export async function projectChunks(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  events: readonly Recorded<SessionEvent>[],
): Promise<void> {
  const rows = new Map<number, ChunkRow>();
  for (const { event } of events) collect(rows, event);
  if (rows.size === 0) return;
  await tx.query(sql.unsafe`
    update chunks as c
    set status = u.status, error = u.error,
        start_sample = coalesce(u.start_sample, c.start_sample),
        length_samples = coalesce(u.length_samples, c.length_samples)
    from ${sql.unnest([...rows.values()], ["int4", "text", "text", "int8", "int8"])}
      as u (sequence, status, error, start_sample, length_samples)
    where c.session_id = ${sessionId} and c.sequence = u.sequence`);
  const placed = [...rows.values()].filter(([, , , start]) => start !== null);
  if (placed.length > 0) await reopenRedactions(tx, sessionId, placed);
}

/** Audio that takes its place in a redacted span has yet to be silenced there. */
async function reopenRedactions(
  tx: DatabaseTransactionConnection,
  sessionId: string,
  placed: readonly ChunkRow[],
): Promise<void> {
  const spans = placed.map(([, , , start, length]) => [start, (start ?? 0) + (length ?? 0)]);
  await tx.query(sql.unsafe`
    update redactions as r set audio_erased_at = null
    from ${sql.unnest(spans, ["int8", "int8"])} as p (start_sample, end_sample)
    where r.session_id = ${sessionId} and r.audio_erased_at is not null
      and r.start_sample < p.end_sample and r.end_sample > p.start_sample`);
}

function collect(rows: Map<number, ChunkRow>, event: SessionEvent): void {
  switch (event.type) {
    case "ChunkPlaced":
    case "GapFilled":
      rows.set(event.sequence, [event.sequence, "processing", "", event.start, event.length]);
      return;
    case "ChunkTranscribed":
    case "ChunkFailed": {
      const [, , , start = null, length = null] = rows.get(event.sequence) ?? [];
      const failed = event.type === "ChunkFailed";
      const error = failed ? event.message : "";
      rows.set(event.sequence, [
        event.sequence,
        failed ? "failed" : "completed",
        error,
        start,
        length,
      ]);
      return;
    }
    default:
      return;
  }
}
