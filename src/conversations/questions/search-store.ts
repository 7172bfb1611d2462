import { type DatabasePool, type FragmentSqlToken as Fragment, sql } from "slonik";
import { z } from "zod";
import type { SessionFacts } from "../../access/policy.ts";
import type { Principal, UserPrincipal } from "../../access/principal.ts";
import { allOf, nameColumn, toInstant } from "../../postgres/columns.ts";
import type { SessionPhase } from "../../session/status.ts";
import { MOST_COUNTED } from "../sessions/list-store.ts";
import { readFacts } from "../sessions/session-facts-store.ts";
import { USER_DISPLAY_NAME } from "../sessions/speakers-store.ts";

/** Control characters that mark a match in a headline; no recognised word has them. */
const START = "\u0002";
const STOP = "\u0003";
/** Stands for `<` while a headline is made, as PostgreSQL takes what looks like a tag out of it. */
const LESS = "\u0004";
const HEADLINE = `StartSel=${START},StopSel=${STOP},MaxWords=40,MinWords=20,MaxFragments=0`;

const hitRow = z.object({
  rank: z.number(),
  sessionId: z.string(),
  segmentId: z.string(),
  title: z.string(),
  startMs: z.number(),
  endMs: z.number(),
  at: z.number(),
  label: z.string(),
  speakerName: nameColumn,
  text: z.string(),
  headline: z.string(),
});

const SAID_AT = sql.fragment`(s.started_at + g.start_sample / 16000.0 * interval '1 second')`;
/** Name of who said segment `g`; empty while nobody has a name for the label. */
export const SPEAKER = sql.fragment`coalesce(${USER_DISPLAY_NAME}, v.display_name, n.display_name, '')`;
/** What it is read from, joined to segment `g`. */
export const SPEAKER_JOINS = sql.fragment`
  left join speaker_claims c
    on c.session_id = g.session_id and c.label = g.label and c.revoked_at is null
  left join users u on u.id = c.claimed_user_id
  left join guests v on v.id = c.claimed_user_id
  left join speaker_names n on n.session_id = g.session_id and n.label = g.label`;

/**
 * Full-text search in the words of sessions, and the caller's relations to many sessions. Throws
 * `unavailable` when storage is away.
 */
export class SearchStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /** Facts for `maySession` about a workspace's sessions, newest first, without deleted ones. */
  factsIn(principal: Principal, workspaceId: string, limit: number): Promise<SessionFacts[]> {
    const condition = sql.fragment`s.workspace_id = ${workspaceId} and s.status <> 'deleted'`;
    return readFacts(this.#pool, principal, condition, limit);
  }

  /** The same about all sessions to which a person, or an elevation of theirs, has a way. */
  async factsOf(person: UserPrincipal, limit: number): Promise<SessionFacts[]> {
    const reached = (await this.#isElevatedEverywhere(person)) ? NOT_DELETED : reachedBy(person);
    return readFacts(this.#pool, person, reached, limit);
  }

  /** Asked first: as a part of `reachedBy` it would have all sessions read for who is not. */
  async #isElevatedEverywhere({ id, role }: UserPrincipal): Promise<boolean> {
    if (role !== "admin") return false;
    return this.#pool.exists(sql.type(z.object({}))`
      select from elevations_of(${id}, null, null)`);
  }

  /** How many hits there are in the given sessions; of more than `MOST_COUNTED` these. */
  count(sessionIds: readonly string[], filter: SearchFilter): Promise<number> {
    return this.#pool.oneFirst(sql.type(z.object({ count: z.number() }))`
      with ${hitsIn(sessionIds, filter)}
      select count(*)::int as count from (select from hits limit ${MOST_COUNTED}) as counted`);
  }

  /** The best hits after `after`, in the given sessions only; redacted segments are never found. */
  async search(
    sessionIds: readonly string[],
    filter: SearchFilter,
    { after, limit }: { after?: HitPosition | undefined; limit: number },
  ): Promise<SearchHit[]> {
    const rows = await this.#pool.any(sql.type(hitRow)`
      with ${hitsIn(sessionIds, filter)}
      select rank, "sessionId", "segmentId", title, "startMs", "endMs", at, label,
        "speakerName", text,
        ts_headline(config, translate(text, '<', ${LESS}), query, ${HEADLINE}) as headline
      from (
        select * from hits where ${isAfter(after)}
        order by rank desc, "sessionId" desc, "segmentId" desc
        limit ${limit}
      ) as page
      order by rank desc, "sessionId" desc, "segmentId" desc`);
    return rows.map(({ headline, ...hit }) => ({ ...hit, snippet: partsOf(headline) }));
  }
}

/** SQL for the table `hits`, of all segments that are found. */
function hitsIn(sessionIds: readonly string[], filter: SearchFilter): Fragment {
  const ids = sql.array([...sessionIds], "uuid");
  return sql.fragment`queries as (
      select config, websearch_to_tsquery(config, ${filter.text}) as query
      from (
        select distinct search_dictionary(language) as config
        from sessions where id = any(${ids})
      ) as languages
    ),
    hits as (
      select ts_rank_cd(g.search, q.query) as rank, g.session_id as "sessionId",
        g.id as "segmentId", s.title, g.label, g.text, q.config, q.query,
        round(g.start_sample / 16.0)::int as "startMs",
        round(g.end_sample / 16.0)::int as "endMs",
        ${SAID_AT} as at, ${SPEAKER} as "speakerName"
      from queries q
      join segments g on g.search @@ q.query and search_dictionary(g.language) = q.config
      join sessions s on s.id = g.session_id
      ${SPEAKER_JOINS}
      where g.session_id = any(${ids}) and ${allOf(conditionsOf(filter))}
    )`;
}

const NOT_DELETED = sql.fragment`s.status <> 'deleted'`;

/**
 * SQL condition: an index leads from the person to session `s`, or from an elevation of theirs for a
 * session or a workspace. Who may read it is not decided here.
 */
function reachedBy({ id, role }: UserPrincipal): Fragment {
  const elevations = sql.fragment`active_elevations e`;
  const elevated =
    role === "admin"
      ? sql.fragment`
        union all
        select e.session_id from ${elevations} where e.admin_id = ${id} and e.session_id is not null
        union all
        select v.id from ${elevations} join sessions v on v.workspace_id = e.workspace_id
        where e.admin_id = ${id}`
      : sql.fragment``;
  const shared =
    role === "moderator" ? sql.fragment`true` : sql.fragment`v.visibility = 'workspace'`;
  return sql.fragment`${NOT_DELETED} and s.id in (
    select o.id from sessions o where o.owner_id = ${id}
    union all
    select p.session_id from session_members p where p.user_id = ${id}
    union all
    select v.id from workspace_members k join sessions v on v.workspace_id = k.workspace_id
    where k.user_id = ${id} and ${shared} ${elevated})`;
}

function conditionsOf(filter: SearchFilter): Fragment[] {
  const { speaker, from, to, tags = [], status, deviceId } = filter;
  const conditions = [sql.fragment`s.status <> 'deleted' and not g.redacted`];
  if (speaker !== undefined) {
    conditions.push(
      sql.fragment`(lower(g.label) = lower(${speaker}) or strpos(lower(${SPEAKER}), lower(${speaker})) > 0)`,
    );
  }
  if (from !== undefined) conditions.push(sql.fragment`${SAID_AT} >= ${toInstant(from)}`);
  if (to !== undefined) conditions.push(sql.fragment`${SAID_AT} < ${toInstant(to)}`);
  if (tags.length > 0) conditions.push(sql.fragment`s.tags @> ${sql.array([...tags], "text")}`);
  if (status !== undefined) conditions.push(sql.fragment`s.status = ${status}`);
  if (deviceId !== undefined) conditions.push(sql.fragment`s.device_id = ${deviceId}`);
  return conditions;
}

function isAfter(after: HitPosition | undefined): Fragment {
  if (after === undefined) return sql.fragment`true`;
  const { rank, sessionId, segmentId } = after;
  return sql.fragment`(rank, "sessionId", "segmentId")
    < (${String(rank)}::real, ${sessionId}::uuid, ${segmentId}::uuid)`;
}

function partsOf(headline: string): SearchHit["snippet"] {
  return headline
    .replaceAll(LESS, "<")
    .split(START)
    .flatMap((part, index) => {
      if (index === 0) return part === "" ? [] : [{ text: part, isMatch: false }];
      const [match = "", rest = ""] = part.split(STOP);
      const parts = [{ text: match, isMatch: true }];
      return rest === "" ? parts : [...parts, { text: rest, isMatch: false }];
    });
}

/** Restricts a search in the words of sessions. */
interface SearchFilter {
  /** The query, in the syntax of web search fields: words, "phrases", or, -not. */
  text: string;
  /** A label, or part of the name of the person who claimed it. */
  speaker?: string | undefined;
  /** When it was said, Unix milliseconds; `to` is not included. */
  from?: number | undefined;
  to?: number | undefined;
  /** What the session is: it has all of these tags, this status, was recorded by this device. */
  tags?: readonly string[] | undefined;
  status?: SessionPhase | undefined;
  deviceId?: string | undefined;
}

/** Position in the list of hits, which is ordered by rank. */
export interface HitPosition {
  rank: number;
  sessionId: string;
  segmentId: string;
}

/** A segment that was found. */
export interface SearchHit extends HitPosition {
  title: string;
  /** Position on the session's timeline, milliseconds. */
  startMs: number;
  endMs: number;
  /** When it was said, Unix milliseconds. */
  at: number;
  label: string;
  /** The name of the person who claimed the label; empty without a claim. */
  speakerName: string;
  text: string;
  /** The text around the match, in parts: those that match and those between them. */
  snippet: { text: string; isMatch: boolean }[];
}
