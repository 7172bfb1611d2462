import type { ChunkRow, RedactionRow, SegmentRow, SessionRow } from "../support/record/rows.ts";
import type { Scene } from "./scene.ts";

/** The text of a segment that a person wrote. */
export const EDITED = /^edited \d+$/;

/** One session as its tables have it. */
export interface Tables {
  session: SessionRow | undefined;
  chunks: ChunkRow[];
  segments: SegmentRow[];
  redactions: RedactionRow[];
}

export async function tablesOf({ record }: Pick<Scene, "record">, id: string): Promise<Tables> {
  const [session] = (await record.rows("sessions")).filter((row) => row.id === id);
  const segments = await record.rows("segments", id);
  segments.sort((a, b) => a.start_sample - b.start_sample);
  return {
    session,
    chunks: await record.rows("chunks", id),
    segments,
    redactions: await record.rows("redactions", id),
  };
}

/** Taken out, or written anew by a person. */
export function isExcused({ segments, redactions }: Tables, start: number, end: number): boolean {
  return (
    redactions.some((row) => row.start_sample < end && row.end_sample > start) ||
    segments.some(
      (row) =>
        row.start_sample < end && row.end_sample > start && (row.redacted || EDITED.test(row.text)),
    )
  );
}
