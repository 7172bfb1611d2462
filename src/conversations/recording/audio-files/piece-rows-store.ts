import { type CommonQueryMethods, type FragmentSqlToken, sql } from "slonik";
import { z } from "zod";
import { optionalColumn } from "../../../postgres/optional-column.ts";
import type { RecordedPieces } from "./stored-pieces.ts";

/**
 * SQL: how many pieces the chunk of `audio_pieces` p has, whose stream is `audio_streams` a; null where each
 * is a row.
 */
export const PIECES_OF_LOG = sql.fragment`
  case when p.log is not null then case when a.sequence = p.sequence then a.pieces else p.pieces end end`;

/** SQL: columns of `RECORDED_PIECE`. */
export const RECORDED_PIECES = sql.fragment`
  p.piece, p.frames, p.data, p.log, ${PIECES_OF_LOG} as pieces`;

export const RECORDED_PIECE = {
  piece: z.number(),
  frames: z.number(),
  data: optionalColumn(z.instanceof(Buffer)),
  log: optionalColumn(z.string()),
  pieces: optionalColumn(z.number()),
};
const row = z.object(RECORDED_PIECE);

/** The rows of one chunk, in their order. */
export function recordedPieces(rows: readonly z.output<typeof row>[]): RecordedPieces {
  const [first] = rows;
  return {
    pieces: first?.pieces ?? rows.length,
    log: first?.log,
    rows: rows.flatMap(({ piece, frames, data }) =>
      data === undefined ? [] : [{ piece, frames, data }],
    ),
  };
}

/** Keeps the number of pieces with the newest chunk of streams, which is going to be another. */
export async function saveCount(tx: CommonQueryMethods, which: FragmentSqlToken): Promise<void> {
  await tx.query(sql.unsafe`
    update audio_pieces p set pieces = a.pieces
    from audio_streams a
    where p.session_id = a.session_id and p.sequence = a.sequence and p.piece = 0
      and p.log is not null and ${which}`);
}
