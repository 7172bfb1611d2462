import {
  type CommonQueryMethods,
  type DatabasePool,
  type FragmentSqlToken as Fragment,
  sql,
} from "slonik";
import { z } from "zod";
import { AppError } from "../../base/errors.ts";
import { allOf } from "../../postgres/columns.ts";
import type { Word } from "../../session/write.ts";
import { activeNames } from "../../tenancy/workspaces/workshops-store.ts";
import { joinVocabulary } from "../../wire/vocabulary.ts";
import { OVERLAPPING } from "../sessions/speakers-store.ts";
import type { GapRecord, SegmentRecord } from "./writing/segment-record.ts";
import { segmentRow } from "./writing/segment-row.ts";

/**
 * SQL for the indexes, from 0, of the unclear words in a column of words; most segments have none.
 */
export function unclearWords(words: Fragment): Fragment {
  return sql.fragment`case when jsonb_path_exists(${words}, '$[*] ? (@.unclear == true)') then (
    select array_agg((said.place - 1)::int order by said.place)
    from jsonb_array_elements(${words}) with ordinality as said (word, place)
    where said.word -> 'unclear' = 'true'::jsonb
  ) else array[]::int[] end`;
}

/**
 * SQL that changes whenever a session's words, speakers or their names do. `sessionId` is a value
 * or a column of the enclosing query.
 */
export function transcriptFingerprint(sessionId: Fragment): Fragment {
  return sql.fragment`sha256(convert_to(
    coalesce((
      select string_agg(
        g.id::text || ' ' || g.revision || ' ' || g.label || ' ' || md5(g.text), E'\n'
        order by g.start_sample, g.id)
      from segments g where g.session_id = ${sessionId}), '')
    || E'\n\n' ||
    coalesce((
      select string_agg(c.label || ' ' || c.claimed_user_id::text, E'\n' order by c.label)
      from speaker_claims c where c.session_id = ${sessionId} and c.revoked_at is null), '')
    || coalesce((
      select E'\n\n' || string_agg(n.label || ' ' || n.id::text, E'\n' order by n.label)
      from speaker_names n where n.session_id = ${sessionId} and n.label is not null), ''),
    'UTF8'))`;
}

const spanRow = z.object({ start: z.number(), end: z.number(), confidence: z.number() });
const editedRow = spanRow.extend({ others: z.number() });

/** Letters that a session may have after an edit: some 25 hours of talk have as many. */
const EDITED_LETTERS = 1_000_000;

const TOO_MUCH = `A session's text may have ${EDITED_LETTERS.toLocaleString("en")} letters after an edit; this one would have more.`;

/** Edited texts until the session applies them, in the erasable part of the database. */
export class PostgresSegmentEdits implements SegmentEdits {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  put(edit: Parameters<SegmentEdits["put"]>[0]): Promise<boolean> {
    const { id, sessionId, segmentId, text, byUserId } = edit;
    return this.#pool.transaction(async (tx) => {
      // A deletion waits for this lock, and then deletes the text too.
      const found = await tx.maybeOne(sql.type(editedRow)`
        select e.start_sample as start, e.end_sample as "end", e.confidence, (
            select coalesce(sum(length(o.text)), 0) from segments o
            where o.session_id = s.id and o.id <> e.id
          )::int8 as others
        from sessions s join segments e on e.session_id = s.id
        where s.id = ${sessionId} and s.status <> 'deleted' and e.id = ${segmentId}
        for share of s`);
      if (found === null) return false;
      const { others, ...span } = found;
      if (others + text.length > EDITED_LETTERS) throw new AppError("payload_too_large", TOO_MUCH);
      const words = JSON.stringify(spreadWords(text, span));
      await tx.query(sql.unsafe`
        insert into segment_edits (id, session_id, segment_id, text, words, by_user_id)
        values (${id}, ${sessionId}, ${segmentId}, ${text}, ${words}::jsonb, ${byUserId})`);
      return true;
    });
  }
}

/** The words of a text over a span of samples, each with a length in proportion to its letters. */
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

/** SQL for the overlaps of a row of `segments`, in order; most have none. */
export const OVERLAPS = sql.fragment`case when segments.overlapping is not null then (
    select jsonb_agg(jsonb_build_object('segmentId', o.id, 'label', o.label,
      'start', o.start_sample, 'end', o.end_sample) order by o.start_sample, o.id)
    from ${OVERLAPPING} as o
    where o.session_id = segments.session_id and o.within = segments.id) end`;

const vocabularyRow = z.object({
  own: z.array(z.string()),
  names: z.array(z.string()),
  shared: z.array(z.string()),
});

const pageRow = segmentRow.extend({ found: z.number() });

/** Letters of a page after which it ends: several times as many as of the longest one that was heard. */
const PAGE_LETTERS = 50_000;

const plainRow = segmentRow.pick({
  ...{ id: true, start: true, end: true, label: true, text: true },
  ...{ confidence: true, redacted: true },
});

/** A segment without its words. */
export type PlainSegmentRecord = z.output<typeof plainRow>;

/** Letters of a transcript that is given as a whole: ten times as many as eight hours have. */
const MOST_LETTERS = 4_000_000;
const TOO_LONG =
  "This text is too long to be given as a whole. Read it in pages: GET /sessions/{id}/segments.";

const documentRow = z.object({ json: z.string() });
const lettersRow = z.object({ letters: z.number() });

const gapRow = z.object({ sequence: z.number(), start: z.number(), length: z.number() });

const COLUMNS = sql.fragment`id, start_sample as start, end_sample as "end", label, text, words,
  confidence, speaker_confidence as "speakerConfidence", ${OVERLAPS} as "overlaps", revision, redacted`;

/** Throws `payload_too_large` for a session whose text is too long to be given as a whole. */
export async function assertShort(
  pool: Pick<CommonQueryMethods, "one">,
  sessionId: string,
): Promise<void> {
  const { letters } = await pool.one(sql.type(lettersRow)`
    select coalesce(sum(length(text)), 0)::int8 as letters from segments
    where session_id = ${sessionId}`);
  if (letters > MOST_LETTERS) throw new AppError("payload_too_large", TOO_LONG);
}

/** Words and gaps of sessions, for readers. Throws `unavailable` when storage is away. */
export class SegmentStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /**
   * Segments of a session after `after`, in order: at most `limit`, and fewer where their texts are
   * long, but at least one. `last` is the one after which the next page goes on, undefined at the end.
   */
  async page(
    sessionId: string,
    { after, limit, span = {} }: SegmentPageRequest,
  ): Promise<{ page: SegmentRecord[]; last: SegmentRecord | undefined }> {
    const { fromMs, toMs } = span;
    const conditions = [sql.fragment`session_id = ${sessionId}`];
    if (after !== undefined) {
      conditions.push(
        sql.fragment`(start_sample, id) > (${after.start}::bigint, ${after.id}::uuid)`,
      );
    }
    if (fromMs !== undefined) conditions.push(sql.fragment`end_sample > ${fromMs} * 16::bigint`);
    if (toMs !== undefined) conditions.push(sql.fragment`start_sample < ${toMs} * 16::bigint`);
    const rows = await this.#pool.any(sql.type(pageRow)`
      select ${COLUMNS}, found
      from (
        select *, count(*) over () as found, sum(length(text)) over (
            order by start_sample, id rows between unbounded preceding and 1 preceding) as before
        from (
          select * from segments
          where ${allOf(conditions)}
          order by start_sample, id
          limit ${limit + 1}
        ) as listed
      ) as segments
      where coalesce(before, 0) < ${PAGE_LETTERS}
      order by start_sample, id
      limit ${limit}`);
    const page = rows.map(({ found: _found, ...segment }) => segment);
    const isWhole = (rows[0]?.found ?? 0) <= page.length;
    return { page, last: isWhole ? undefined : page.at(-1) };
  }

  /**
   * All segments of a session in order, as JSON text for `segmentsOf` in a thread: reading it here
   * would hold up everything else. Throws `payload_too_large` for a text that is too long to be given
   * as a whole.
   */
  async asJson(sessionId: string): Promise<string> {
    await assertShort(this.#pool, sessionId);
    const { json } = await this.#pool.one(sql.type(documentRow)`
      select coalesce(json_agg(row_to_json(rows)), '[]')::text as json
      from (
        select ${COLUMNS} from segments where session_id = ${sessionId} order by start_sample, id
      ) as rows`);
    return json;
  }

  /**
   * All segments of a session in order, without their words. Throws `payload_too_large` like `asJson`.
   */
  async plain(sessionId: string): Promise<PlainSegmentRecord[]> {
    await assertShort(this.#pool, sessionId);
    const rows = await this.#pool.any(sql.type(plainRow)`
      select id, start_sample as start, end_sample as "end", label, text, confidence, redacted
      from segments where session_id = ${sessionId} order by start_sample, id`);
    return [...rows];
  }

  async find(sessionId: string, segmentId: string): Promise<SegmentRecord | undefined> {
    const row = await this.#pool.maybeOne(sql.type(segmentRow)`
      select ${COLUMNS} from segments where session_id = ${sessionId} and id = ${segmentId}
    `);
    return row ?? undefined;
  }

  /** Words and phrases that the session's recogniser is told of, as a person wrote them. */
  async vocabulary(sessionId: string): Promise<string[]> {
    const row = await this.#pool.maybeOne(sql.type(vocabularyRow)`
      select s.vocabulary as own, w.vocabulary as shared,
        array(${activeNames(sql.fragment`s.workshop_id`)}) as names
      from sessions s join workspaces w on w.id = s.workspace_id
      where s.id = ${sessionId}`);
    return row === null ? [] : joinVocabulary(row.own, row.names, row.shared);
  }

  async gaps(sessionId: string): Promise<GapRecord[]> {
    const rows = await this.#pool.any(sql.type(gapRow)`
      select sequence, start_sample as start, length_samples as length
      from session_gaps(${sessionId})
    `);
    return [...rows];
  }
}

/** Position of a segment in the order of a session: by start, then by id. */
export interface SegmentPosition {
  start: number;
  id: string;
}

/** A part of a session's timeline: what ends after `fromMs` and begins before `toMs`, milliseconds. */
export interface TimelineSpan {
  fromMs?: number | undefined;
  toMs?: number | undefined;
}

interface SegmentPageRequest {
  after: SegmentPosition | undefined;
  limit: number;
  /** The whole session by default. */
  span?: TimelineSpan;
}

/** Port: edited texts between the API and the session that applies them. */
export interface SegmentEdits {
  /**
   * Stores the text until the session applies it. Its words get times in proportion to their
   * length. False when there is no such segment; throws `payload_too_large` where the session's text
   * would become too long.
   */
  put(edit: {
    id: string;
    sessionId: string;
    segmentId: string;
    text: string;
    byUserId: string;
  }): Promise<boolean>;
}

/** For whoever deletes a session. */
export async function eraseEdits(tx: CommonQueryMethods, { id }: { id: string }): Promise<void> {
  await tx.query(sql.unsafe`delete from segment_edits where session_id = ${id}`);
}

/** Deletes edits that their session never applied, because their text must not stay. */
export async function dropStaleEdits(pool: DatabasePool): Promise<number> {
  const { rowCount } = await pool.query(sql.unsafe`
    delete from segment_edits where created_at < now() - interval '1 hour'`);
  return rowCount;
}

/** An edit that its session has applied. */
export async function dropEdit(tx: CommonQueryMethods, id: string): Promise<void> {
  await tx.query(sql.unsafe`delete from segment_edits where id = ${id}`);
}

/** Edits of segments whose words go. */
export async function eraseEditsOf(
  tx: CommonQueryMethods,
  sessionId: string,
  segmentIds: readonly string[],
): Promise<void> {
  await tx.query(sql.unsafe`
    delete from segment_edits
    where session_id = ${sessionId} and segment_id = any(${sql.array([...segmentIds], "uuid")})`);
}
