import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { nameColumn, toInstant } from "../../postgres/columns.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import { USER_DISPLAY_NAME } from "../sessions/speakers-store.ts";
import { unclearWords } from "../transcript/segments-store.ts";

/**
 * A session with its words, as input for answers. Positions on its timeline are in milliseconds.
 */
export interface SpokenConversation {
  sessionId: string;
  title: string;
  /** BCP 47. */
  language: string;
  /** Unix milliseconds. */
  startedAtMs: number;
  voices: SpokenVoice[];
  /** Passages in order of time, without redacted ones. */
  passages: SpokenPassage[];
}

interface SpokenVoice {
  label: string;
  /** The name of the person who claimed the label; empty without a claim. */
  name: string;
  claimedUserId?: string | undefined;
}

export interface SpokenPassage {
  segmentId: string;
  startMs: number;
  endMs: number;
  label: string;
  text: string;
  /** Indexes, from 0, of the unclear words of the text. */
  unclear: number[];
}

const idRow = z.object({ id: z.string() });
const sessionRow = z.object({
  sessionId: z.string(),
  title: z.string(),
  language: z.string(),
  startedAtMs: z.number(),
});
const voiceRow = z.object({
  sessionId: z.string(),
  label: z.string(),
  name: nameColumn,
  claimedUserId: optionalColumn(z.string()),
});
/** Passages that are read at a time. */
export const PASSAGES_PAGE = 5_000;

/** Checked by hand, as a schema takes several times as long, and there may be very many. */
export const passageRow = z.custom<SpokenPassage & { sessionId: string }>(isPassage, "no passage");

function isPassage(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const row = value as Record<string, unknown>;
  const { unclear } = row;
  return (
    TEXTS.every((name) => typeof row[name] === "string") &&
    typeof row.startMs === "number" &&
    typeof row.endMs === "number" &&
    Array.isArray(unclear) &&
    unclear.every((place) => typeof place === "number")
  );
}

const TEXTS = ["sessionId", "segmentId", "label", "text"];

type Ids = ReturnType<typeof sql.array>;

/**
 * Reads sessions with their words from PostgreSQL. Every method throws `unavailable` when storage
 * is away.
 */
export class ConversationStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /**
   * Conversations in the order of the ids, without deleted ones; once `maxPassages` were read the
   * rest is left out too.
   */
  read(sessionIds: readonly string[], maxPassages: number): Promise<SpokenConversation[]> {
    const ids = sql.array([...sessionIds], "uuid");
    return this.#pool.transaction(async (connection) => {
      // Its pages are of one moment.
      await connection.query(sql.unsafe`set transaction isolation level repeatable read read only`);
      const sessions = await connection.any(sql.type(sessionRow)`
        select id as "sessionId", title, language, started_at as "startedAtMs"
        from sessions where id = any(${ids}) and status <> 'deleted'
        order by array_position(${ids}, id)`);
      const voices = groupBySession(await connection.any(voicesOf(ids)));
      const passages = groupBySession(await readPassages(connection, ids, maxPassages));
      return sessions.map((session) => ({
        ...session,
        voices: (voices.get(session.sessionId) ?? []) satisfies SpokenVoice[],
        passages: (passages.get(session.sessionId) ?? []) satisfies SpokenPassage[],
      }));
    });
  }

  /** Ids of the sessions in which one of the words was said, the best matches first. */
  async findSessions(
    sessionIds: readonly string[],
    words: readonly string[],
    limit: number,
  ): Promise<string[]> {
    const ids = sql.array([...sessionIds], "uuid");
    const rows = await this.#pool.any(sql.type(idRow)`
      with queries as (
        select config, string_agg(word::text, ' | ')::tsquery as query
        from (
          select distinct search_dictionary(language) as config
          from sessions where id = any(${ids})
        ) as languages
        cross join unnest(${sql.array([...words], "text")}) as said
        cross join lateral plainto_tsquery(config, said) as word
        where numnode(word) > 0
        group by config
      )
      select g.session_id as id
      from queries q
      join segments g on g.search @@ q.query and search_dictionary(g.language) = q.config
      where g.session_id = any(${ids})
      group by g.session_id
      order by sum(ts_rank(g.search, q.query)) desc, g.session_id desc
      limit ${limit}`);
    return rows.map(({ id }) => id);
  }

  /** Ids of the sessions that began in the span, in the given order. Unix milliseconds. */
  async startedWithin(sessionIds: readonly string[], from: number, to: number): Promise<string[]> {
    const ids = sql.array([...sessionIds], "uuid");
    const rows = await this.#pool.any(sql.type(idRow)`
      select id from sessions
      where id = any(${ids})
        and started_at >= ${toInstant(from)} and started_at < ${toInstant(to)}
      order by array_position(${ids}, id)`);
    return rows.map(({ id }) => id);
  }
}

function voicesOf(ids: Ids) {
  return sql.type(voiceRow)`
    select c.session_id as "sessionId", c.label, c.claimed_user_id as "claimedUserId",
      coalesce(${USER_DISPLAY_NAME}, v.display_name, n.display_name, '') as name
    from speaker_claims c
    left join users u on u.id = c.claimed_user_id
    left join guests v on v.id = c.claimed_user_id
    left join speaker_names n on n.session_id = c.session_id and n.label = c.label
    where c.session_id = any(${ids}) and c.revoked_at is null
    union all
    select g.session_id, g.label, null, coalesce(min(n.display_name), '')
    from segments g
    left join speaker_names n on n.session_id = g.session_id and n.label = g.label
    where g.session_id = any(${ids}) and not exists (
      select from speaker_claims c
      where c.session_id = g.session_id and c.label = g.label and c.revoked_at is null
    )
    group by g.session_id, g.label`;
}

/** Reads page by page, as the rows of many are checked in one go, which holds everything else up. */
async function readPassages(connection: CommonQueryMethods, ids: Ids, most: number) {
  const read: z.output<typeof passageRow>[] = [];
  while (read.length < most) {
    const limit = Math.min(PASSAGES_PAGE, most - read.length);
    const page = await connection.any(passagesOf(ids, limit, read.length));
    for (const row of page) read.push(row);
    if (page.length < limit) break;
  }
  return read;
}

function passagesOf(ids: Ids, limit: number, offset: number) {
  return sql.type(passageRow)`
    select g.session_id as "sessionId", g.id as "segmentId", g.label, g.text,
      ${unclearWords(sql.fragment`g.words`)} as unclear,
      round(g.start_sample / 16.0)::int as "startMs", round(g.end_sample / 16.0)::int as "endMs"
    from segments g join sessions s on s.id = g.session_id
    where g.session_id = any(${ids}) and s.status <> 'deleted'
      and not g.redacted and g.text not like '[redacted-%'
    order by array_position(${ids}, g.session_id), g.start_sample, g.id
    limit ${limit} offset ${offset}`;
}

function groupBySession<T extends { sessionId: string }>(
  rows: readonly T[],
): Map<string, Omit<T, "sessionId">[]> {
  const groups = new Map<string, Omit<T, "sessionId">[]>();
  for (const { sessionId, ...row } of rows) {
    const group = groups.get(sessionId);
    if (group === undefined) groups.set(sessionId, [row]);
    else group.push(row);
  }
  return groups;
}
