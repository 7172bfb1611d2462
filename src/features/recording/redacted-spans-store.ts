import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { Span } from "../../session/span.ts";
import type { RedactedSpans } from "./session-recordings.ts";

const spanRow = z.object({ start: z.number(), end: z.number() });

/** Redacted audio, from the redactions and from the segments whose words they took. */
export class PostgresRedactedSpans implements RedactedSpans {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  async of(sessionId: string): Promise<Span[]> {
    const rows = await this.#pool.any(sql.type(spanRow)`
      select start_sample as start, end_sample as "end" from redactions
      where session_id = ${sessionId}
      union
      select start_sample, end_sample from segments
      where session_id = ${sessionId} and redacted
      order by start`);
    return mergeSpans(rows);
  }
}

/** Spans that touch become one; `spans` come in order of their start. */
function mergeSpans(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  for (const { start, end } of spans) {
    const last = merged.at(-1);
    if (last === undefined || start > last.end) merged.push({ start, end });
    else last.end = Math.max(last.end, end);
  }
  return merged;
}
