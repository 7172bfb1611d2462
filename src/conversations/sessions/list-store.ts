import { type DatabasePool, type FragmentSqlToken as Fragment, sql } from "slonik";
import { z } from "zod";
import type { Principal } from "../../access/principal.ts";
import { allOf, toInstant } from "../../postgres/columns.ts";
import { cutPage } from "../../rest/page.ts";
import type { SessionPhase } from "../../session/status.ts";
import { SESSION_COLUMNS, type SessionRecord, sessionRow } from "./store.ts";

/** What a list of sessions can be sorted by, a leading minus for the highest first. */
export const SESSION_SORTS = [
  "-started_at",
  "started_at",
  "title",
  "-title",
  "duration",
  "-duration",
  "external_id",
  "-external_id",
] as const;

export type SessionSort = (typeof SESSION_SORTS)[number];

export interface SessionFilter {
  workspaceId?: string | undefined;
  status?: SessionPhase | undefined;
  /** Words that each begin a word of the title, without regard to case and accents. */
  title?: string | undefined;
  /** Started at or after it, Unix milliseconds. */
  from?: number | undefined;
  /** Started before it, Unix milliseconds. */
  to?: number | undefined;
  deviceId?: string | undefined;
  /** Words that each begin a word of the name of one of its speakers. */
  speaker?: string | undefined;
  /** The account or guest who claimed one of its labels. */
  speakerUserId?: string | undefined;
  /** As it was started with, BCP 47. */
  language?: string | undefined;
  externalId?: string | undefined;
  /** It has all of them. */
  tags?: readonly string[] | undefined;
  /** It has this text under this key. */
  metadata?: Readonly<Record<string, string>> | undefined;
}

/** Sessions beyond these are not counted. */
export const MOST_COUNTED = 10_000;

interface SessionListRequest {
  filter: SessionFilter;
  /** Undefined: the newest first. */
  sort: SessionSort | undefined;
  /** Most rows to return. */
  limit: number;
  /** Position of the previous page's last item. */
  after: readonly string[] | undefined;
}

interface SessionListPage {
  items: SessionRecord[];
  /** The position after which the next page begins; undefined at the end. */
  next: string[] | undefined;
}

/** In which order the listings `l` are read. */
interface Order {
  /** What is compared before the id. */
  key: SortKey | undefined;
  isDescending: boolean;
}

interface SortKey {
  value: Fragment;
  /** As text that loses nothing, for a cursor. */
  text: Fragment;
  /** A cursor's text as the key. */
  read: (text: string) => Fragment;
}

const listedRow = sessionRow.extend({ position: z.string() });

const KEYS: Readonly<Record<"started_at" | "title" | "duration" | "external_id", SortKey>> = {
  started_at: {
    value: sql.fragment`l.started_at`,
    text: sql.fragment`to_char(l.started_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`,
    read: (text) => sql.fragment`${text}::timestamptz`,
  },
  title: {
    value: sql.fragment`l.title_key`,
    text: sql.fragment`l.title_key`,
    read: (text) => sql.fragment`${text}::text`,
  },
  duration: {
    value: sql.fragment`l.duration_ms`,
    text: sql.fragment`l.duration_ms::text`,
    read: (text) => sql.fragment`${text}::int`,
  },
  external_id: {
    value: sql.fragment`l.external_key`,
    text: sql.fragment`l.external_key`,
    read: (text) => sql.fragment`${text}::text`,
  },
};

/** The list of sessions, filtered and sorted. Throws `unavailable` when storage is away. */
export class SessionListStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /**
   * Lists those of the sessions that `principal` may read which the filter lets through; deleted
   * ones only when an administrator asks for them. Whoever may read a session may read the names of
   * its speakers, so that a filter by them tells nothing more.
   */
  async list(principal: Principal, request: SessionListRequest): Promise<SessionListPage> {
    const { filter, limit, after } = request;
    const order = orderOf(request);
    const first = sql.fragment`order by ${sorted(order)} limit ${limit + 1}`;
    const shown = sql.fragment`l.session_id as id, ${order.key?.text ?? sql.fragment`''`} as position`;
    const ways = waysOf(principal, filter);
    const read = { filter, after: beyond(order, after), first };
    const [only] = ways.length === 1 ? ways : [];
    const found =
      only === undefined
        ? sql.fragment`select ${shown} from session_listings l where l.session_id in (
            ${seenBy(ways, { ...read, join: sql.fragment`union all` })}) ${first}`
        : seenIn(only, shown, read);
    // The page first: what is shown of a session is looked up for its rows alone, not for all that
    // are sorted.
    const rows = await this.#pool.any(sql.type(listedRow)`
      with page as materialized (
        select found.*, row_number() over () as place from (${found}) found)
      select ${SESSION_COLUMNS}, page.position
      from page join sessions s on s.id = page.id order by page.place`);
    const { page, last } = cutPage(rows, limit);
    const items = page.map(({ position: _, ...session }) => session);
    return { items, next: last && [last.id, last.position] };
  }

  /** How many `list` would give in all its pages; of more than `MOST_COUNTED` these. */
  count(principal: Principal, { filter }: { filter: SessionFilter }): Promise<number> {
    // `union`: whoever sees a session in several ways sees one.
    const counted = seenBy(waysOf(principal, filter), { filter, join: sql.fragment`union` });
    return this.#pool.oneFirst(sql.type(z.object({ count: z.number() }))`
      select count(*)::int as count from (${counted} limit ${MOST_COUNTED}) counted`);
  }
}

/** Which of somebody's sessions are read. */
interface Read {
  filter: SessionFilter;
  /** SQL conditions: they come after the page before. */
  after?: readonly Fragment[];
  /** In which order, and how many; without it all. */
  first?: Fragment;
}

/** SQL for the ids of the sessions that one of these ways leads to. */
function seenBy(ways: readonly Way[], { join, ...read }: Read & { join: Fragment }): Fragment {
  const id = sql.fragment`l.session_id`;
  const each = ways.map((way) => sql.fragment`(${seenIn(way, id, read)})`);
  return sql.fragment`${sql.join(each, sql.fragment` ${join} `)}`;
}

/**
 * SQL for `columns` of the listings `l` that a way leads to, each read from an index, in its order
 * where that has one.
 */
function seenIn({ view, found, ofWhom, memberId }: Way, columns: Fragment, read: Read): Fragment {
  const { filter, after = [], first } = read;
  const { status, deviceId, language } = filter;
  const isListed = status === undefined && deviceId === undefined && language === undefined;
  const others = isListed ? sql.fragment`` : sql.fragment`join sessions s on s.id = l.session_id`;
  const conditions = [
    ...found,
    ...filterConditions(filter),
    ...after,
    ...keptFields(filter, ofWhom),
  ];
  const seen = sql.fragment`select ${columns} from ${view} l ${others} where ${allOf(conditions)}`;
  if (first === undefined) return seen;
  if (memberId === undefined) return sql.fragment`${seen} ${first}`;
  return sql.fragment`
    select seen.* from workspace_members w cross join lateral (
      ${seen} and l.joined_workspace_id = w.workspace_id ${first}) seen
    where w.user_id = ${memberId}`;
}

/** SQL conditions for what programs keep with a session; `ofWhom`: as in `listing_keys`. */
function keptFields(filter: SessionFilter, ofWhom: Fragment): Fragment[] {
  const { externalId = null, metadata = null, tags = [] } = filter;
  if (externalId === null && metadata === null && tags.length === 0) return [];
  return [
    sql.fragment`l.keys @> listing_keys(${ofWhom}, ${externalId}::text,
      ${metadata && JSON.stringify(metadata)}::jsonb, ${sql.array([...tags], "text")})`,
  ];
}

/** By when they were made, unless something is asked for that other orders are for. */
function orderOf({ filter, sort }: SessionListRequest): Order {
  const { title, from, to } = filter;
  if (sort === undefined && title === undefined && from === undefined && to === undefined) {
    return { key: undefined, isDescending: true };
  }
  const name = (sort ?? "-started_at").replace("-", "") as keyof typeof KEYS;
  return { key: KEYS[name], isDescending: sort?.startsWith("-") ?? true };
}

function sorted(order: Order): Fragment {
  const direction = order.isDescending ? sql.fragment`desc` : sql.fragment`asc`;
  const id = sql.fragment`l.session_id ${direction}`;
  if (order.key === undefined) return id;
  return sql.fragment`${order.key.value} ${direction}, ${id}`;
}

/** What comes after a position of this order. */
function beyond(order: Order, after: readonly string[] | undefined): Fragment[] {
  if (after === undefined) return [];
  const [id = "", text = ""] = after;
  const than = order.isDescending ? sql.fragment`<` : sql.fragment`>`;
  if (order.key === undefined) return [sql.fragment`l.session_id ${than} ${id}::uuid`];
  return [
    sql.fragment`(${order.key.value}, l.session_id) ${than} (${order.key.read(text)}, ${id}::uuid)`,
  ];
}

function filterConditions(filter: SessionFilter): Fragment[] {
  const { workspaceId, title, from, to, deviceId, speaker, speakerUserId, language } = filter;
  const { status } = filter;
  const conditions: Fragment[] = [];
  if (status !== undefined) conditions.push(sql.fragment`s.status = ${status}`);
  if (workspaceId !== undefined) conditions.push(sql.fragment`l.workspace_id = ${workspaceId}`);
  if (title !== undefined) conditions.push(sql.fragment`l.title_words @@ title_query(${title})`);
  if (from !== undefined) conditions.push(sql.fragment`l.started_at >= ${toInstant(from)}`);
  if (to !== undefined) conditions.push(sql.fragment`l.started_at < ${toInstant(to)}`);
  if (deviceId !== undefined) conditions.push(sql.fragment`s.device_id = ${deviceId}`);
  if (speaker !== undefined) conditions.push(namesOneOf(speaker));
  if (language !== undefined) conditions.push(sql.fragment`s.language = ${language}`);
  if (speakerUserId !== undefined) {
    conditions.push(sql.fragment`l.session_id in (
      select c.session_id from speaker_claims c
      where c.claimed_user_id = ${speakerUserId} and c.revoked_at is null)`);
  }
  return conditions;
}

/** SQL condition: a current name of one of the session's speakers has words that begin so. */
function namesOneOf(name: string): Fragment {
  const wanted = sql.fragment`title_query(${name})`;
  return sql.fragment`l.session_id in (
    select n.session_id from speaker_names n
    where n.label is not null and title_words(n.display_name) @@ ${wanted}
    union all
    select c.session_id from users u join speaker_claims c on c.claimed_user_id = u.id
    where c.revoked_at is null and title_words(u.name) @@ ${wanted}
    union all
    select c.session_id from guests g join speaker_claims c on c.claimed_user_id = g.id
    where c.revoked_at is null and title_words(g.display_name) @@ ${wanted})`;
}

/** What lets a caller read sessions. */
interface Way {
  /** The view of the listings `l` that it opens. */
  view: Fragment;
  /** SQL conditions by which the caller's are found in it. */
  found: Fragment[];
  /** As in `listing_keys`. */
  ofWhom: Fragment;
  /** Whose workspaces are looked through one by one for a page. */
  memberId?: string;
}

function waysOf(principal: Principal, { workspaceId, status }: SessionFilter): Way[] {
  const { kind, id } = principal;
  if (kind === "user" && principal.role === "admin") {
    const ofWhom = sql.fragment`${workspaceId ?? ""}::text`;
    const found = [status === "deleted" ? sql.fragment`l.deleted` : sql.fragment`not l.deleted`];
    return [{ view: sql.fragment`session_listings`, found, ofWhom }];
  }
  if (kind === "service") {
    const { workspaceId: own, scopes } = principal;
    const mayRead = scopes.includes("sessions:read");
    const found = [sql.fragment`${mayRead} and l.workspace_id = ${own} and not l.deleted`];
    return [{ view: sql.fragment`session_listings`, found, ofWhom: sql.fragment`${own}::text` }];
  }
  const isReader = sql.fragment`l.reader_id = ${id}`;
  // A moderator's are those that are shared, too.
  const isModerator = kind === "user" && principal.role === "moderator";
  return [
    { view: sql.fragment`owned_sessions`, found: [isReader], ofWhom: sql.fragment`${id}::text` },
    { view: sql.fragment`joined_sessions`, found: [isReader], ofWhom: sql.fragment`''` },
    {
      view: isModerator ? sql.fragment`moderated_sessions` : sql.fragment`shared_sessions`,
      found: [isReader],
      // A workspace that is known is said, as PostgreSQL then knows how common the tags are in it.
      ofWhom: sql.fragment`${workspaceId ?? sql.fragment`l.joined_workspace_id`}::text`,
      memberId: id,
    },
  ];
}
