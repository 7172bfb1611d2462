import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { allOf, toInstant } from "../../postgres/columns.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import { unclearWords } from "../transcript/segments-store.ts";
import type { CitedPassage } from "./by-rule.ts";
import { SPEAKER, SPEAKER_JOINS } from "./search-store.ts";

/** A session as a list shows it. */
interface ListedSession {
  sessionId: string;
  title: string;
  /** Unix milliseconds. */
  startedAtMs: number;
  /** Names, or labels, of who spoke. */
  speakers: readonly string[];
}

/** A segment with who said it. */
export interface ReadPassage extends CitedPassage {
  /** BCP 47. */
  language: string;
  claimedUserId?: string | undefined;
  /** What the same voice said right before, the latest first. */
  before: readonly string[];
}

/** Restricts a list of sessions. */
interface SessionFilter {
  /** When they began, Unix milliseconds; `to` is not included. */
  from?: number | undefined;
  to?: number | undefined;
  /** A part of the title, in small or capital letters. */
  title?: string | undefined;
}

const sessionRow = z.object({
  sessionId: z.string(),
  title: z.string(),
  startedAtMs: z.number(),
  speakers: z.array(z.string()),
});
const passageRow = z.object({
  sessionId: z.string(),
  segmentId: z.string(),
  startMs: z.number(),
  endMs: z.number(),
  label: z.string(),
  text: z.string(),
  unclear: z.array(z.number()),
  language: z.string(),
  speakerName: z.string(),
  claimedUserId: optionalColumn(z.string()),
  before: z.array(z.object({ label: z.string(), text: z.string() })),
});
/** How many utterances before one are read. */
const BEFORE = 2;
const idRow = z.object({ id: z.string() });

/** What of segment `g` may be read: not what was redacted, and nothing of a deleted session `s`. */
const READABLE = sql.fragment`
  s.status <> 'deleted' and not g.redacted and g.text not like '[redacted-%'`;

/**
 * Reads what a language model asks for with its tools, always within sessions that were given. Throws
 * `unavailable` when storage is away.
 */
export class ToolReadsStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /** Those of the sessions that the filter leaves, in the order of the ids, without deleted ones. */
  async sessions(
    sessionIds: readonly string[],
    { from, to, title }: SessionFilter,
    limit: number,
  ): Promise<ListedSession[]> {
    const ids = sql.array([...sessionIds], "uuid");
    const conditions = [sql.fragment`s.id = any(${ids}) and s.status <> 'deleted'`];
    if (from !== undefined) conditions.push(sql.fragment`s.started_at >= ${toInstant(from)}`);
    if (to !== undefined) conditions.push(sql.fragment`s.started_at < ${toInstant(to)}`);
    if (title !== undefined)
      conditions.push(sql.fragment`strpos(lower(s.title), lower(${title})) > 0`);
    const rows = await this.#pool.any(sql.type(sessionRow)`
      with listed as (
        select s.id, s.title, s.started_at, s.status from sessions s where ${allOf(conditions)}
        order by array_position(${ids}, s.id) limit ${limit}
      )
      select s.id as "sessionId", s.title, s.started_at as "startedAtMs",
        coalesce((
          select array_agg(distinct coalesce(nullif(${SPEAKER}, ''), g.label))
          from segments g ${SPEAKER_JOINS}
          where g.session_id = s.id and ${READABLE}), '{}') as speakers
      from listed s order by array_position(${ids}, s.id)`);
    return [...rows];
  }

  /** Ids of the segments of a session that end after the time on its timeline, milliseconds. */
  async segmentsFrom(sessionId: string, fromMs: number, limit: number): Promise<string[]> {
    const rows = await this.#pool.any(sql.type(idRow)`
      select g.id from segments g join sessions s on s.id = g.session_id
      where g.session_id = ${sessionId} and ${READABLE} and g.end_sample > ${fromMs} * 16::bigint
      order by g.start_sample, g.id limit ${limit}`);
    return rows.map(({ id }) => id);
  }

  /** Those of the segments that lie in one of the sessions and may be read, in the order of their ids. */
  async passages(
    sessionIds: readonly string[],
    segmentIds: readonly string[],
  ): Promise<ReadPassage[]> {
    const ids = sql.array([...segmentIds], "uuid");
    const rows = await this.#pool.any(sql.type(passageRow)`
      select g.session_id as "sessionId", g.id as "segmentId", g.label, g.text, g.language,
        ${unclearWords(sql.fragment`g.words`)} as unclear,
        round(g.start_sample / 16.0)::int as "startMs", round(g.end_sample / 16.0)::int as "endMs",
        ${SPEAKER} as "speakerName", c.claimed_user_id as "claimedUserId",
        coalesce((
          select jsonb_agg(jsonb_build_object('label', b.label, 'text', b.text))
          from (
            select p.label, p.text from segments p
            where p.session_id = g.session_id and p.start_sample < g.start_sample
            order by p.start_sample desc limit ${BEFORE}
          ) as b), '[]') as before
      from segments g join sessions s on s.id = g.session_id
      ${SPEAKER_JOINS}
      where g.id = any(${ids}) and g.session_id = any(${sql.array([...sessionIds], "uuid")})
        and ${READABLE}
      order by array_position(${ids}, g.id)`);
    return rows.map(({ before, ...row }) => ({ ...row, before: ownOf(row.label, before) }));
  }
}

/** The texts before another voice spoke. */
function ownOf(label: string, before: readonly { label: string; text: string }[]): string[] {
  const other = before.findIndex((each) => each.label !== label);
  return before.slice(0, other < 0 ? before.length : other).map(({ text }) => text);
}
