import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { Word } from "../../session/write.ts";
import type { SegmentEdits } from "./segments-edit.ts";

const spanRow = z.object({ start: z.number(), end: z.number(), confidence: z.number() });

/** Edited texts until the append that puts them in place, in the erasable part of the database. */
export class PostgresSegmentEdits implements SegmentEdits {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  put(edit: Parameters<SegmentEdits["put"]>[0]): Promise<boolean> {
    const { id, sessionId, segmentId, text, byUserId } = edit;
    return this.#pool.transaction(async (tx) => {
      // A deletion waits for this lock, and then takes the text away too.
      const span = await tx.maybeOne(sql.type(spanRow)`
        select e.start_sample as start, e.end_sample as "end", e.confidence
        from sessions s join segments e on e.session_id = s.id
        where s.id = ${sessionId} and s.status <> 'deleted' and e.id = ${segmentId}
        for share of s`);
      if (span === null) return false;
      const words = JSON.stringify(spreadWords(text, span));
      await tx.query(sql.unsafe`
        insert into segment_edits (id, session_id, segment_id, text, words, by_user_id)
        values (${id}, ${sessionId}, ${segmentId}, ${text}, ${words}::jsonb, ${byUserId})`);
      return true;
    });
  }
}

/** Words of a text over a span of samples, each as long as its share of the letters. */
export function spreadWords(text: string, span: z.output<typeof spanRow>): Word[] {
  const texts = text.split(" ");
  const per = (span.end - span.start) / (text.length + 1);
  let at = span.start;
  return texts.map((word) => {
    const start = Math.round(at);
    at += (word.length + 1) * per;
    return { text: word, start, end: Math.round(at), confidence: span.confidence };
  });
}
