import { type DatabasePool, type FragmentSqlToken as Fragment, sql } from "slonik";
import { z } from "zod";
import type { Principal, UserPrincipal } from "../../access/principal.ts";
import { allOf, toInstant } from "../../postgres/columns.ts";
import { cutPage } from "../../rest/page.ts";
import type { SessionPhase } from "../../session/status.ts";
import { SESSION_COLUMNS, type SessionRecord, sessionRow, sharedWith, visibleTo } from "./store.ts";

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

/** What a list is read by. */
type ListedBy = Pick<SessionListRequest, "filter" | "sort">;

interface SessionListPage {
  items: SessionRecord[];
  /** The position after which the next page begins; undefined at the end. */
  next: string[] | undefined;
}

/** How the list is read in one order. Rows are sessions `s`, their listings `l`, or both joined. */
interface Order {
  tables: Fragment;
  /** The row that has the columns by which scopes are found in an index of this order. */
  scope: Fragment;
  id: Fragment;
  /** SQL condition: it is not deleted. */
  stands: Fragment;
  /** What is compared before the id. */
  key?: SortKey;
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

const SESSIONS = { id: sql.fragment`s.id`, stands: sql.fragment`s.status <> 'deleted'` };
const LISTED = sql.fragment`sessions s join session_listings l on l.session_id = s.id`;
/** To count by, as far as a listing knows what is asked for. */
const LISTINGS_ALONE: Order = {
  tables: sql.fragment`session_listings l`,
  scope: sql.fragment`l`,
  id: sql.fragment`l.session_id`,
  stands: sql.fragment`not l.deleted`,
  isDescending: true,
};

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
    const { limit, after } = request;
    const order = orderOf(request);
    const most = limit + 1;
    const seen = seenOf(principal, request, order, { beyond: beyond(order, after), most });
    // The page first: what is shown of a session is looked up for its rows alone, not for all that
    // are sorted.
    const rows = await this.#pool.any(sql.type(listedRow)`
      with page as materialized (
        select found.*, row_number() over () as place from (
          select s.id, ${order.key?.text ?? sql.fragment`''`} as position
          from ${order.tables} where ${seen} order by ${sorted(order)} limit ${most}) found)
      select ${SESSION_COLUMNS}, page.position
      from page join sessions s on s.id = page.id order by page.place`);
    const { page, last } = cutPage(rows, limit);
    const items = page.map(({ position: _, ...session }) => session);
    return { items, next: last && [last.id, last.position] };
  }

  /** How many `list` would give in all its pages; of more than `MOST_COUNTED` these. */
  count(principal: Principal, { filter }: { filter: SessionFilter }): Promise<number> {
    const order = listingsKnow(principal, filter)
      ? LISTINGS_ALONE
      : orderOf({ filter, sort: undefined });
    const conditions = filterConditions(filter, order);
    const counted = seesByRelations(principal)
      ? // `union`: whoever sees a session in several ways sees one.
        sql.fragment`${seenBy(principal, order, conditions, { filter, join: sql.fragment`union` })}`
      : sql.fragment`select from ${order.tables} where ${allSeen(principal, filter, order, conditions)}`;
    return this.#pool.oneFirst(sql.type(z.object({ count: z.number() }))`
      select count(*)::int as count from (${counted} limit ${MOST_COUNTED}) counted`);
  }
}

/** SQL condition: the session is among the first `most` that the caller sees and asked for. */
function seenOf(
  principal: Principal,
  { filter }: ListedBy,
  order: Order,
  page: { beyond: readonly Fragment[]; most: number },
): Fragment {
  const conditions = [...filterConditions(filter, order), ...page.beyond];
  if (!seesByRelations(principal)) return allSeen(principal, filter, order, conditions);
  const first = sql.fragment`order by ${sorted(order)} limit ${page.most}`;
  const join = sql.fragment`union all`;
  return sql.fragment`${order.id} in (${seenBy(principal, order, conditions, { filter, first, join })})`;
}

/** True for people who see what they own, take part in, or have in their workspaces. */
function seesByRelations(principal: Principal): principal is UserPrincipal {
  return principal.kind === "user" && principal.role !== "admin";
}

/** SQL condition: a caller who sees all of some scope sees the session and asked for it. */
function allSeen(
  principal: Principal,
  filter: SessionFilter,
  order: Order,
  conditions: readonly Fragment[],
): Fragment {
  const workspaceId = principal.kind === "service" ? principal.workspaceId : filter.workspaceId;
  const kept = keptFields(filter, sql.fragment`${workspaceId ?? ""}::text`);
  return sql.fragment`${allOf([...visibleIn(principal, order), ...conditions, ...kept])}`;
}

/** SQL conditions for what programs keep with a session; `ofWhom`: as in `listing_keys`. */
function keptFields(filter: SessionFilter, ofWhom: Fragment): Fragment[] {
  if (!asksForKept(filter)) return [];
  const { externalId = null, metadata, tags = [] } = filter;
  const texts = metadata === undefined ? null : JSON.stringify(metadata);
  return [
    sql.fragment`l.keys @> listing_keys(
      ${ofWhom}, ${externalId}::text, ${texts}::jsonb, ${sql.array([...tags], "text")})`,
  ];
}

function asksForKept({ externalId, metadata, tags = [] }: SessionFilter): boolean {
  return externalId !== undefined || metadata !== undefined || tags.length > 0;
}

/** By when they were made, unless something is asked for that only listings are sorted by. */
function orderOf({ filter, sort }: ListedBy): Order {
  const { title, from, to } = filter;
  if (sort === undefined && title === undefined && from === undefined && to === undefined) {
    const tables = asksForKept(filter) ? LISTED : sql.fragment`sessions s`;
    return { ...SESSIONS, tables, scope: sql.fragment`s`, isDescending: true };
  }
  const isDescending = sort?.startsWith("-") ?? true;
  const name = (sort ?? "-started_at").replace("-", "") as keyof typeof KEYS;
  return { ...SESSIONS, tables: LISTED, scope: sql.fragment`l`, key: KEYS[name], isDescending };
}

/** Whether listings alone tell which sessions somebody sees and asked for. */
function listingsKnow(principal: Principal, filter: SessionFilter): boolean {
  const { status, deviceId, language } = filter;
  const isKnown = status === undefined && deviceId === undefined && language === undefined;
  return isKnown && (principal.kind === "user" || principal.kind === "service");
}

function idOf({ key }: Order): Fragment {
  return key === undefined ? sql.fragment`s.id` : sql.fragment`l.session_id`;
}

function sorted(order: Order): Fragment {
  const direction = order.isDescending ? sql.fragment`desc` : sql.fragment`asc`;
  const id = sql.fragment`${idOf(order)} ${direction}`;
  if (order.key === undefined) return id;
  return sql.fragment`${order.key.value} ${direction}, ${id}`;
}

/** What comes after a position of this order. */
function beyond(order: Order, after: readonly string[] | undefined): Fragment[] {
  if (after === undefined) return [];
  const [id = "", text = ""] = after;
  const than = order.isDescending ? sql.fragment`<` : sql.fragment`>`;
  if (order.key === undefined) return [sql.fragment`s.id ${than} ${id}::uuid`];
  return [
    sql.fragment`(${order.key.value}, l.session_id) ${than} (${order.key.read(text)}, ${id}::uuid)`,
  ];
}

function filterConditions(filter: SessionFilter, order: Order): Fragment[] {
  const { id } = order;
  const { workspaceId, title, from, to, deviceId, speaker, speakerUserId, language } = filter;
  const conditions = statusConditions(filter, order);
  if (workspaceId !== undefined) {
    conditions.push(sql.fragment`${order.scope}.workspace_id = ${workspaceId}`);
  }
  if (title !== undefined) conditions.push(sql.fragment`l.title_words @@ title_query(${title})`);
  if (from !== undefined) conditions.push(sql.fragment`l.started_at >= ${toInstant(from)}`);
  if (to !== undefined) conditions.push(sql.fragment`l.started_at < ${toInstant(to)}`);
  if (deviceId !== undefined) conditions.push(sql.fragment`s.device_id = ${deviceId}`);
  if (speaker !== undefined) conditions.push(namesOneOf(speaker, order));
  if (language !== undefined) conditions.push(sql.fragment`s.language = ${language}`);
  if (speakerUserId !== undefined) {
    conditions.push(sql.fragment`${id} in (
      select c.session_id from speaker_claims c
      where c.claimed_user_id = ${speakerUserId} and c.revoked_at is null)`);
  }
  return conditions;
}

function statusConditions({ status }: SessionFilter, { key, stands }: Order): Fragment[] {
  if (status === "deleted") return [sql.fragment`s.status = 'deleted'`];
  const condition = status === undefined ? stands : sql.fragment`s.status = ${status}`;
  // Said of both rows, as the indexes of listings know those only that are not deleted.
  return key === undefined ? [condition] : [condition, sql.fragment`not l.deleted`];
}

/** SQL condition: a current name of one of the session's speakers has words that begin so. */
function namesOneOf(name: string, { id }: Order): Fragment {
  const wanted = sql.fragment`title_query(${name})`;
  return sql.fragment`${id} in (
    select n.session_id from speaker_names n
    where n.label is not null and title_words(n.display_name) @@ ${wanted}
    union all
    select c.session_id from users u join speaker_claims c on c.claimed_user_id = u.id
    where c.revoked_at is null and title_words(u.name) @@ ${wanted}
    union all
    select c.session_id from guests g join speaker_claims c on c.claimed_user_id = g.id
    where c.revoked_at is null and title_words(g.display_name) @@ ${wanted})`;
}

/** `visibleTo`; of a key said of the row that has an index for it. */
function visibleIn(principal: Principal, { scope, stands }: Order): Fragment[] {
  if (principal.kind === "user" && principal.role === "admin") return [];
  if (principal.kind !== "service") return [visibleTo(principal)];
  if (!principal.scopes.includes("sessions:read")) return [sql.fragment`false`];
  return [sql.fragment`${scope}.workspace_id = ${principal.workspaceId}`, stands];
}

/**
 * The same sessions as `visibleTo`, found from the person's side: SQL for the ids of their own
 * sessions, of those that they take part in and of those of their workspaces, each `first` of them.
 * Each list is read from an index, in its order where that has one.
 */
function seenBy(
  person: UserPrincipal,
  { tables, scope, id, stands }: Order,
  wanted: readonly Fragment[],
  {
    filter,
    first = sql.fragment``,
    join,
  }: { filter: SessionFilter; first?: Fragment; join: Fragment },
): Fragment {
  const firstOf = (ofWhom: Fragment): Fragment => {
    const kept = keptFields(filter, ofWhom);
    return sql.fragment`${allOf([stands, ...wanted, ...kept])} ${first}`;
  };
  // A workspace that is known is said, as PostgreSQL then knows how common the tags are in it.
  const workspace = sql.fragment`${filter.workspaceId ?? sql.fragment`w.workspace_id`}::text`;
  return sql.fragment`
    (select ${id} from ${tables}
      where ${scope}.owner_id = ${person.id} and ${firstOf(sql.fragment`${person.id}::text`)})
    ${join}
    (select ${id} from ${tables} join session_members m on m.session_id = ${id}
      where m.user_id = ${person.id} and ${firstOf(sql.fragment`''`)})
    ${join}
    (select seen.id from workspace_members w cross join lateral (
      select ${id} as id from ${tables}
      where ${scope}.workspace_id = w.workspace_id and ${sharedWith(person, scope)}
        and ${firstOf(workspace)}
    ) as seen where w.user_id = ${person.id})`;
}
