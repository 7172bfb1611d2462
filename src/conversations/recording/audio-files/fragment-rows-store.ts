import { type CommonQueryMethods, type FragmentSqlToken, sql } from "slonik";
import { z } from "zod";
import { optionalColumn } from "../../../postgres/optional-column.ts";
import type { RecordedFragments } from "./stored-fragments.ts";

/**
 * SQL: how many fragments the chunk of `audio_pieces` p has, whose stream is `audio_streams` a; null where each
 * is a row.
 */
export const FRAGMENTS_OF_LOG = sql.fragment`
  case when p.log is not null then case when a.sequence = p.sequence then a.pieces else p.pieces end end`;

/** SQL: columns of `RECORDED_FRAGMENT`. */
export const RECORDED_FRAGMENTS = sql.fragment`
  p.piece as index, p.frames, p.data, p.log, ${FRAGMENTS_OF_LOG} as fragments`;

export const RECORDED_FRAGMENT = {
  index: z.number(),
  frames: z.number(),
  data: optionalColumn(z.instanceof(Buffer)),
  log: optionalColumn(z.string()),
  fragments: optionalColumn(z.number()),
};
const row = z.object(RECORDED_FRAGMENT);

/** The rows of one chunk, in their order. */
export function recordedFragments(rows: readonly z.output<typeof row>[]): RecordedFragments {
  const [first] = rows;
  return {
    fragments: first?.fragments ?? rows.length,
    log: first?.log,
    rows: rows.flatMap(({ index, frames, data }) =>
      data === undefined ? [] : [{ index, frames, data }],
    ),
  };
}

/** Keeps the number of fragments with the newest chunk of streams, which is going to be another. */
export async function saveCount(tx: CommonQueryMethods, which: FragmentSqlToken): Promise<void> {
  await tx.query(sql.unsafe`
    update audio_pieces p set pieces = a.pieces
    from audio_streams a
    where p.session_id = a.session_id and p.sequence = a.sequence and p.piece = 0
      and p.log is not null and ${which}`);
}
