import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { SAMPLES_PER_MS } from "../../../base/audio/sample-rate.ts";
import { AppError } from "../../../base/errors.ts";
import { allOf, nameColumn, updatedAt } from "../../../postgres/columns.ts";
import { optionalColumn } from "../../../postgres/optional-column.ts";
import { type OutboxRow, outboxRow, writeOutbox } from "../../../postgres/outbox.ts";
import { USER_DISPLAY_NAME } from "../../sessions/speakers-store.ts";

/** Marks of one session, however many people make them. */
export const MOST_MARKS = 500;

/** A marked moment. Times are Unix milliseconds. */
export interface MarkRecord {
  id: string;
  sessionId: string;
  /** On the session's timeline, milliseconds. */
  atMs: number;
  /** What its author wrote; may be empty. */
  text: string;
  authorId: string;
  authorName?: string | undefined;
  createdAt: number;
  updatedAt: number;
}

/** A mark as it stands after a change, and the command that is to be notified. */
interface ChangedMark {
  mark: MarkRecord;
  outbox: OutboxRow[];
}

/** What an author says of a mark. */
type MarkContent = Pick<MarkRecord, "atMs" | "text">;

/** After which mark a page begins. */
interface MarkPosition {
  atMs: number;
  id: string;
}

const markRow = z.object({
  id: z.string(),
  sessionId: z.string(),
  atMs: z.number(),
  text: z.string(),
  authorId: z.string(),
  authorName: optionalColumn(nameColumn),
  createdAt: z.number(),
  updatedAt: z.number(),
});
const heldRow = z.object({ status: z.string() });

/** Marks of sessions in PostgreSQL. Throws `unavailable` when storage is away. */
export class MarkStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /**
   * Stores it and the command that tells the session's viewers, as the other changes do. Throws
   * `conflict` where the session has as many as it may, `session_deleted`.
   */
  add(mark: Pick<MarkRecord, "id" | "sessionId" | "authorId"> & MarkContent): Promise<ChangedMark> {
    const { id, sessionId, atMs, text, authorId } = mark;
    return this.#pool.transaction(async (tx) => {
      await holdSession(tx, sessionId);
      const count = await tx.oneFirst(sql.type(z.object({ count: z.number() }))`
        select count(*)::int as count from session_marks where session_id = ${sessionId}`);
      if (count >= MOST_MARKS) {
        throw new AppError("conflict", `A session takes ${MOST_MARKS} marks. Delete one first.`);
      }
      await tx.query(sql.unsafe`
        insert into session_marks (id, session_id, at_ms, text, author_id)
        values (${id}, ${sessionId}, ${atMs}, ${text}, ${authorId})`);
      const outbox = await notifyViewers(tx, { id, sessionId });
      const [made] = await read(tx, [sql.fragment`m.id = ${id}`], 1);
      if (made === undefined) throw new Error("The mark was not written.");
      return { mark: made, outbox };
    });
  }

  /** In the order of their moments. */
  list(
    sessionId: string,
    { limit, after }: { limit: number; after?: MarkPosition | undefined },
  ): Promise<readonly MarkRecord[]> {
    const conditions = [sql.fragment`m.session_id = ${sessionId}`];
    if (after !== undefined) {
      conditions.push(sql.fragment`(m.at_ms, m.id) > (${after.atMs}, ${after.id}::uuid)`);
    }
    return read(this.#pool, conditions, limit);
  }

  async find(sessionId: string, id: string): Promise<MarkRecord | undefined> {
    const conditions = [sql.fragment`m.id = ${id} and m.session_id = ${sessionId}`];
    return (await read(this.#pool, conditions, 1))[0];
  }

  /** Undefined when it is gone, or was changed after `since`. Throws `session_deleted`. */
  change(
    { id, sessionId }: Pick<MarkRecord, "id" | "sessionId">,
    { atMs, text }: Partial<MarkContent>,
    since?: number,
  ): Promise<ChangedMark | undefined> {
    return this.#pool.transaction(async (tx) => {
      await holdSession(tx, sessionId);
      const { rowCount } = await tx.query(sql.unsafe`
        update session_marks
        set at_ms = coalesce(${atMs ?? null}, at_ms), text = coalesce(${text ?? null}, text),
          updated_at = now()
        where id = ${id} and ${updatedAt(since)}`);
      if (rowCount === 0) return undefined;
      const outbox = await notifyViewers(tx, { id, sessionId });
      const [mark] = await read(tx, [sql.fragment`m.id = ${id}`], 1);
      return mark && { mark, outbox };
    });
  }

  /** Resolves to what is to be notified; nothing when it was gone already. */
  remove({ id, sessionId }: Pick<MarkRecord, "id" | "sessionId">): Promise<OutboxRow[]> {
    return this.#pool.transaction(async (tx) => {
      const { rowCount } = await tx.query(sql.unsafe`delete from session_marks where id = ${id}`);
      return rowCount === 0 ? [] : notifyViewers(tx, { id, sessionId }, true);
    });
  }
}

async function read(
  connection: CommonQueryMethods,
  conditions: readonly ReturnType<typeof sql.fragment>[],
  limit: number,
): Promise<readonly MarkRecord[]> {
  return connection.any(sql.type(markRow)`
    select m.id, m.session_id as "sessionId", m.at_ms as "atMs", m.text,
      m.author_id as "authorId", ${USER_DISPLAY_NAME} as "authorName",
      m.created_at as "createdAt", m.updated_at as "updatedAt"
    from session_marks m left join users u on u.id = m.author_id
    where ${allOf([...conditions])}
    order by m.at_ms, m.id limit ${limit}`);
}

async function notifyViewers(
  tx: CommonQueryMethods,
  { id, sessionId }: Pick<MarkRecord, "id" | "sessionId">,
  removed = false,
): Promise<OutboxRow[]> {
  const command = { type: "AnnotationStored", annotationType: "mark", annotationId: id } as const;
  const row = outboxRow(sessionId, removed ? { ...command, removed } : command);
  await writeOutbox(tx, row);
  return [row];
}

/** Locks the session's row: marks are counted one after the other, and none comes after an erasure. */
async function holdSession(tx: CommonQueryMethods, sessionId: string): Promise<void> {
  const held = await tx.maybeOne(sql.type(heldRow)`
    select status from sessions where id = ${sessionId} for update`);
  if (held === null || held.status === "deleted") {
    throw new AppError("session_deleted", "This session was deleted.");
  }
}

/** For whoever deletes a session; returns how many there were. */
export async function eraseMarks(
  connection: CommonQueryMethods,
  { id }: { id: string },
): Promise<{ marks: number }> {
  const { rowCount } = await connection.query(sql.unsafe`
    delete from session_marks where session_id = ${id}`);
  return { marks: rowCount };
}

/** For whoever erases an account. */
export async function eraseMarksOf(tx: CommonQueryMethods, userId: string): Promise<void> {
  await tx.query(sql.unsafe`delete from session_marks where author_id = ${userId}`);
}

/**
 * For whoever takes a span out of a session: what somebody wrote there may quote it. Positions are
 * samples; a mark at either end goes, too.
 */
export async function eraseMarksWithin(
  tx: CommonQueryMethods,
  sessionId: string,
  span: { from: number; to: number },
): Promise<void> {
  await tx.query(sql.unsafe`
    delete from session_marks where session_id = ${sessionId}
      and at_ms between ${Math.floor(span.from / SAMPLES_PER_MS)}::bigint
        and ${Math.ceil(span.to / SAMPLES_PER_MS)}::bigint`);
}
