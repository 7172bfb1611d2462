import { type FragmentSqlToken, sql } from "slonik";
import type { Recorded } from "../../actor/journal.ts";
import type { Change } from "../../postgres/append-work.ts";
import type { SessionEvent } from "../../session/event.ts";

type ChunkRow = [
  sequence: number,
  status: string,
  error: string,
  start: number | null,
  length: number | null,
];

/** Updates the chunks with the result of a batch: one statement for any number of chunks. */
export function chunkChanges(
  sessionId: string,
  events: readonly Recorded<SessionEvent>[],
): Change[] {
  const rows = new Map<number, ChunkRow>();
  for (const { event } of events) collect(rows, event);
  const measured = lengthChanges(sessionId, events);
  if (rows.size === 0) return measured;
  const update: Change["sql"] = (when) => sql.fragment`
    update chunks as c
    set status = u.status, error = u.error,
        start_sample = coalesce(u.start_sample, c.start_sample),
        length_samples = coalesce(u.length_samples, c.length_samples)
    from ${sql.unnest([...rows.values()], ["int4", "text", "text", "int8", "int8"])}
      as u (sequence, status, error, start_sample, length_samples)
    where c.session_id = ${sessionId} and c.sequence = u.sequence and ${when}`;
  return [...measured, { writes: ["chunks"], sql: update }];
}

/** The lengths of chunks that were stored without one. */
function lengthChanges(sessionId: string, events: readonly Recorded<SessionEvent>[]): Change[] {
  const rows = events.flatMap(({ event }) =>
    event.type === "ChunkMeasured" ? [[event.sequence, event.frames, event.sampleRate]] : [],
  );
  if (rows.length === 0) return [];
  const update: Change["sql"] = (when) => sql.fragment`
    update chunks as c
    set frames = u.frames, sample_rate = u.rate, duration_seconds = u.frames::float8 / u.rate
    from ${sql.unnest(rows, ["int4", "int8", "int4"])} as u (sequence, frames, rate)
    where c.session_id = ${sessionId} and c.sequence = u.sequence and ${when}`;
  return [{ writes: ["chunks"], sql: update }];
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

/**
 * SQL that fails the chunks that wait and that the commands in the table `dropped` were about, which
 * their session will never receive.
 */
export function failChunksOf(dropped: FragmentSqlToken, error: string): FragmentSqlToken {
  return sql.fragment`
    update chunks as c set status = 'failed', error = ${error}
    from ${dropped} d
    where d.command ->> 'type' = 'ChunkStored' and c.session_id = d.session_id
      and c.sequence = (d.command ->> 'sequence')::int and c.status = 'pending'`;
}
