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

type SessionCountRequest = Pick<SessionListRequest, "filter" | "sort">;

interface SessionListPage {
  items: SessionRecord[];
  /** The position after which the next page begins; undefined at the end. */
  next: string[] | undefined;
}

/** How the list is read in one order. Rows are `s`, `l` (its listing) and `j` (its job), as far as joined. */
interface Order {
  tables: Fragment;
  /** The row that has the columns by which scopes are found in an index of this order. */
  scope: Fragment;
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

const LISTED = sql.fragment`sessions s join session_listings l on l.session_id = s.id`;
/** Also by session and kind, as in the index by length. */
const WITH_JOB = sql.fragment`join jobs j
  on j.id = s.job_id and j.session_id = s.id and j.kind = 'transcription'`;

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
    value: sql.fragment`coalesce(j.duration_ms, 0)`,
    text: sql.fragment`coalesce(j.duration_ms, 0)::text`,
    read: (text) => sql.fragment`${text}::int`,
  },
  external_id: {
    value: sql.fragment`coalesce(s.external_id, '') collate "C"`,
    text: sql.fragment`coalesce(s.external_id, '')`,
    read: (text) => sql.fragment`${text}::text collate "C"`,
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
  count(principal: Principal, request: SessionCountRequest): Promise<number> {
    const order = orderOf(request);
    const seen = seenOf(principal, request, order, { beyond: [], most: MOST_COUNTED });
    return this.#pool.oneFirst(sql.type(z.object({ count: z.number() }))`
      select count(*)::int as count from (
        select from ${order.tables} where ${seen} limit ${MOST_COUNTED}) counted`);
  }
}

/** SQL condition: the session is among the first `most` that the caller sees and asked for. */
function seenOf(
  principal: Principal,
  { filter }: SessionCountRequest,
  order: Order,
  page: { beyond: readonly Fragment[]; most: number },
): Fragment {
  const conditions = [...filterConditions(filter, order), ...page.beyond];
  if (principal.kind === "user" && principal.role !== "admin") {
    return sql.fragment`s.id in (${seenBy(principal, order, conditions, { ...page, filter })})`;
  }
  const { workspaceId = serviceWorkspace(principal) } = filter;
  const tagged = taggedWith(filter, workspaceId);
  const all = [visibleTo(principal), ...scopeOf(principal, order), ...conditions, ...tagged];
  return sql.fragment`${allOf(all)}`;
}

function serviceWorkspace(principal: Principal): string | undefined {
  return principal.kind === "service" ? principal.workspaceId : undefined;
}

/** SQL conditions for the tags; where the workspace is known by the index of its tags. */
function taggedWith(
  { tags = [] }: SessionFilter,
  workspace: string | Fragment | undefined,
): Fragment[] {
  if (tags.length === 0) return [];
  const wanted = sql.fragment`${sql.array([...tags], "text")}`;
  if (workspace === undefined) return [sql.fragment`s.tags @> ${wanted}`];
  // Of a known workspace the texts are said as they are indexed: PostgreSQL has statistics of them.
  const indexed =
    typeof workspace === "string"
      ? sql.fragment`${sql.array(
          tags.map((tag) => `${workspace} ${tag}`),
          "text",
        )}`
      : sql.fragment`workspace_tags(${workspace}, ${wanted})`;
  // The condition of the index is said too, as PostgreSQL does not conclude it.
  return [sql.fragment`s.tags <> '{}' and workspace_tags(s.workspace_id, s.tags) @> ${indexed}`];
}

/** By when they were made, unless something is asked for that only listings have. */
function orderOf({ filter, sort }: SessionCountRequest): Order {
  const { title, from, to } = filter;
  if (sort === undefined && title === undefined && from === undefined && to === undefined) {
    return { tables: sql.fragment`sessions s`, scope: sql.fragment`s`, isDescending: true };
  }
  const isDescending = sort?.startsWith("-") ?? true;
  const name = (sort ?? "-started_at").replace("-", "") as keyof typeof KEYS;
  const tables = name === "duration" ? sql.fragment`${LISTED} ${WITH_JOB}` : LISTED;
  return { tables, scope: sql.fragment`l`, key: KEYS[name], isDescending };
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
  const { workspaceId, title, from, to, deviceId, speaker, speakerUserId } = filter;
  const conditions = statusConditions(filter, order);
  if (workspaceId !== undefined) {
    conditions.push(sql.fragment`${order.scope}.workspace_id = ${workspaceId}`);
  }
  if (title !== undefined) conditions.push(sql.fragment`l.title_words @@ title_query(${title})`);
  if (from !== undefined) conditions.push(sql.fragment`l.started_at >= ${toInstant(from)}`);
  if (to !== undefined) conditions.push(sql.fragment`l.started_at < ${toInstant(to)}`);
  if (deviceId !== undefined) conditions.push(sql.fragment`s.device_id = ${deviceId}`);
  if (speaker !== undefined) conditions.push(namesOneOf(speaker));
  conditions.push(...customConditions(filter));
  if (speakerUserId !== undefined) {
    conditions.push(sql.fragment`s.id in (
      select c.session_id from speaker_claims c
      where c.claimed_user_id = ${speakerUserId} and c.revoked_at is null)`);
  }
  return conditions;
}

function customConditions({ language, externalId, metadata }: SessionFilter): Fragment[] {
  const conditions: Fragment[] = [];
  if (language !== undefined) conditions.push(sql.fragment`s.language = ${language}`);
  if (externalId !== undefined) conditions.push(sql.fragment`s.external_id = ${externalId}`);
  if (metadata !== undefined) {
    conditions.push(
      sql.fragment`s.metadata <> '{}' and s.metadata @> ${JSON.stringify(metadata)}::jsonb`,
    );
  }
  return conditions;
}

function statusConditions({ status }: SessionFilter, { key }: Order): Fragment[] {
  if (status === "deleted") return [sql.fragment`s.status = 'deleted'`];
  const condition =
    status === undefined ? sql.fragment`s.status <> 'deleted'` : sql.fragment`s.status = ${status}`;
  // Said of both rows, as the indexes of listings know those only that are not deleted.
  return key === undefined ? [condition] : [condition, sql.fragment`not l.deleted`];
}

/** SQL condition: a current name of one of the session's speakers has words that begin so. */
function namesOneOf(name: string): Fragment {
  const wanted = sql.fragment`title_query(${name})`;
  return sql.fragment`s.id in (
    select n.session_id from speaker_names n
    where n.label is not null and title_words(n.display_name) @@ ${wanted}
    union all
    select c.session_id from users u join speaker_claims c on c.claimed_user_id = u.id
    where c.revoked_at is null and title_words(u.name) @@ ${wanted}
    union all
    select c.session_id from guests g join speaker_claims c on c.claimed_user_id = g.id
    where c.revoked_at is null and title_words(g.display_name) @@ ${wanted})`;
}

/** `visibleTo` of a key, said of the row that has an index for it. */
function scopeOf(principal: Principal, { scope }: Order): Fragment[] {
  if (principal.kind !== "service") return [];
  return [sql.fragment`${scope}.workspace_id = ${principal.workspaceId}`];
}

/**
 * The same sessions as `visibleTo`, found from the person's side: SQL for the ids of the first of
 * their own sessions, of those that they take part in and of those of their workspaces. Each list
 * is read from an index, in its order where that has one.
 */
function seenBy(
  person: UserPrincipal,
  order: Order,
  wanted: readonly Fragment[],
  { filter, most }: { filter: SessionFilter; most: number },
): Fragment {
  const { tables, scope } = order;
  const firstOf = (tagged: readonly Fragment[]): Fragment => {
    const conditions = allOf([sql.fragment`s.status <> 'deleted'`, ...wanted, ...tagged]);
    return sql.fragment`${conditions} order by ${sorted(order)} limit ${most}`;
  };
  const first = firstOf(taggedWith(filter, undefined));
  const firstShared = firstOf(taggedWith(filter, sql.fragment`w.workspace_id`));
  return sql.fragment`
    (select s.id from ${tables} where ${scope}.owner_id = ${person.id} and ${first})
    union all
    (select s.id from ${tables} join session_members m on m.session_id = s.id
      where m.user_id = ${person.id} and ${first})
    union all
    (select s.id from workspace_members w cross join lateral (
      select s.id from ${tables}
      where ${scope}.workspace_id = w.workspace_id and ${sharedWith(person, scope)} and ${firstShared}
    ) as s where w.user_id = ${person.id})`;
}
