import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { nameColumn } from "../../postgres/columns.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import { USER_DISPLAY_NAME } from "../sessions/speakers-store.ts";

const changeRow = z.object({
  id: z.number(),
  at: z.number(),
  byUserId: z.string(),
  byName: optionalColumn(nameColumn),
  labelBefore: z.string(),
  labelAfter: z.string(),
  textBefore: optionalColumn(z.string()),
  textAfter: optionalColumn(z.string()),
});

/** What a person changed of a segment. */
export type LineChange = z.output<typeof changeRow>;

/** What people changed of segments, kept by the journal. Throws `unavailable` when storage is away. */
export class LineHistoryStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /** Changes of a segment before the one with id `before`, newest first. */
  async page(
    sessionId: string,
    segmentId: string,
    { before, limit }: { before: number | undefined; limit: number },
  ): Promise<LineChange[]> {
    const older = before === undefined ? sql.fragment`true` : sql.fragment`c.id < ${before}`;
    const rows = await this.#pool.any(sql.type(changeRow)`
      select c.id, c.at, c.by_user_id as "byUserId", ${USER_DISPLAY_NAME} as "byName",
        c.label_before as "labelBefore", c.label_after as "labelAfter",
        c.text_before as "textBefore", c.text_after as "textAfter"
      from segment_changes c left join users u on u.id = c.by_user_id
      where c.session_id = ${sessionId} and c.segment_id = ${segmentId} and ${older}
      order by c.id desc limit ${limit}`);
    return [...rows];
  }
}
