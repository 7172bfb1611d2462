import {
  type CommonQueryMethods,
  type DatabasePool,
  type FragmentSqlToken as Fragment,
  sql,
} from "slonik";
import { z } from "zod";
import type { Principal } from "../../access/principal.ts";
import { AppError } from "../../base/errors.ts";
import { allOf, nameColumn, toPage, updatedAt } from "../../postgres/columns.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import { type OutboxRow, outboxRow, writeOutbox } from "../../postgres/outbox.ts";
import type { Page, PageRequest } from "../../rest/page.ts";
import { REDACTED_SPAN } from "../../session/redaction.ts";
import { USER_DISPLAY_NAME } from "../sessions/speakers-store.ts";
import { nativeTo, tiedTo, visibleTo } from "../sessions/store.ts";

export const CONCERN_CATEGORIES = ["accuracy", "privacy", "safety", "other"] as const;
export const CONCERN_STATUSES = ["open", "acknowledged", "resolved", "dismissed"] as const;

type ConcernCategory = (typeof CONCERN_CATEGORIES)[number];
type ConcernStatus = (typeof CONCERN_STATUSES)[number];
export type RaiserKind = "user" | "guest" | "service";

/** Positions on a session's timeline, samples at 16 kHz. */
export interface Span {
  from: number;
  to: number;
}

interface NewConcern {
  id: string;
  sessionId: string;
  category: ConcernCategory;
  description: string;
  /** The segment that it is about; the segment's span is looked up. */
  segmentId: string | undefined;
  span: Span | undefined;
  raisedBy: { kind: RaiserKind; id: string };
}

/** Times are Unix milliseconds. Texts are empty once the session's words were erased. */
export interface ConcernRecord {
  id: string;
  sessionId: string;
  category: ConcernCategory;
  status: ConcernStatus;
  description: string;
  resolution: string;
  segmentId?: string | undefined;
  span?: Span | undefined;
  raisedBy: { kind: RaiserKind; id: string; displayName?: string | undefined };
  handledById?: string | undefined;
  redactionId?: string | undefined;
  createdAt: number;
  updatedAt: number;
  closedAt?: number | undefined;
}

/** A concern of a list; `readable` when the reader has native access to the session's content. */
interface ListedConcern extends ConcernRecord {
  readable: boolean;
}

interface ConcernFilter {
  sessionId?: string | undefined;
  workspaceId?: string | undefined;
  status?: ConcernStatus | undefined;
  category?: ConcernCategory | undefined;
}

interface ConcernChange {
  status: ConcernStatus | undefined;
  resolution: string | undefined;
  redactionId: string | undefined;
  handledById: string;
}

const concernRow = z.object({
  id: z.string(),
  sessionId: z.string(),
  category: z.enum(["accuracy", "privacy", "safety", "other"]),
  status: z.enum(["open", "acknowledged", "resolved", "dismissed"]),
  description: z.string(),
  resolution: z.string(),
  segmentId: optionalColumn(z.string()),
  from: optionalColumn(z.number()),
  to: optionalColumn(z.number()),
  raisedByKind: z.enum(["user", "guest", "service"]),
  raisedById: z.string(),
  displayName: optionalColumn(nameColumn),
  handledById: optionalColumn(z.string()),
  redactionId: optionalColumn(z.string()),
  createdAt: z.number(),
  updatedAt: z.number(),
  closedAt: optionalColumn(z.number()),
  readable: z.boolean(),
});
const nothing = z.object({}).strict();
const spanRow = z.object({ from: z.number(), to: z.number() });

const ANYBODY = sql.fragment`true`;

function toConcern(row: z.output<typeof concernRow>): ListedConcern {
  const { from, to, raisedByKind, raisedById, displayName, ...rest } = row;
  return {
    ...rest,
    span: from === undefined || to === undefined ? undefined : { from, to },
    raisedBy: { kind: raisedByKind, id: raisedById, displayName },
  };
}

/**
 * Concerns about sessions in PostgreSQL, newest first in lists. Their texts are erased with the
 * words of their session. Throws `unavailable` when storage is away.
 */
export class ConcernStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /**
   * Records a concern and the command that notifies the session's followers, in one transaction.
   * Throws `not_found` for an unknown segment, `session_deleted` when the session was deleted
   * meanwhile.
   */
  raise(concern: NewConcern): Promise<{ concern: ConcernRecord; outbox: OutboxRow[] }> {
    return this.#pool.transaction(async (tx) => {
      await holdSession(tx, concern.sessionId);
      await insertConcern(tx, concern, concern.span ?? (await segmentSpan(tx, concern)));
      const command = { type: "ConcernStored" as const, concernId: concern.id };
      const row = outboxRow(concern.sessionId, command);
      await writeOutbox(tx, row);
      return { concern: await readOne(tx, concern.id), outbox: [row] };
    });
  }

  async find(id: string): Promise<ConcernRecord | undefined> {
    return (await read(this.#pool, [sql.fragment`c.id = ${id}`], 1))[0];
  }

  /** Concerns about one session; only those that `raisedById` raised, when given. */
  ofSession(
    sessionId: string,
    raisedById: string | undefined,
    page: PageRequest,
  ): Promise<Page<ConcernRecord>> {
    const conditions = [sql.fragment`c.session_id = ${sessionId}`];
    if (raisedById !== undefined) conditions.push(sql.fragment`c.raised_by_id = ${raisedById}`);
    return this.#page(conditions, page);
  }

  /** Concerns that the caller may triage, or raised and may still see. */
  listFor(
    principal: Principal,
    filter: ConcernFilter,
    page: PageRequest,
  ): Promise<Page<ListedConcern>> {
    const conditions = [
      sql.fragment`(${mayTriage(principal)}
        or (c.raised_by_id = ${principal.id} and ${visibleTo(principal)}))`,
    ];
    const { sessionId, workspaceId, status, category } = filter;
    if (sessionId !== undefined) conditions.push(sql.fragment`c.session_id = ${sessionId}`);
    if (workspaceId !== undefined) conditions.push(sql.fragment`s.workspace_id = ${workspaceId}`);
    if (status !== undefined) conditions.push(sql.fragment`c.status = ${status}`);
    if (category !== undefined) conditions.push(sql.fragment`c.category = ${category}`);
    return this.#page(conditions, page, nativelyVisibleTo(principal));
  }

  /**
   * Undefined, and nothing is changed, when the concern was changed after `since`. Throws
   * `session_deleted` when the session was deleted meanwhile.
   */
  change(id: string, change: ConcernChange, since?: number): Promise<ConcernRecord | undefined> {
    return this.#pool.transaction(async (tx) => {
      await holdSession(tx, (await readOne(tx, id)).sessionId);
      const changed = await updateConcern(tx, id, change, since);
      return changed ? readOne(tx, id) : undefined;
    });
  }

  async #page(
    conditions: Fragment[],
    page: PageRequest,
    readable: Fragment = ANYBODY,
  ): Promise<Page<ListedConcern>> {
    if (page.after !== undefined) conditions.push(sql.fragment`c.id < ${page.after}::uuid`);
    const rows = await read(this.#pool, conditions, page.limit + 1, readable);
    return toPage(rows, page.limit, (concern) => concern.id);
  }
}

/** `maySession(…, "session.triage", …)` as an SQL condition over many rows. */
function mayTriage(principal: Principal): Fragment {
  if (principal.kind !== "user") return sql.fragment`false`;
  if (principal.role === "admin") return sql.fragment`true`;
  return tiedTo(principal.id, ["owner", "moderator"], principal.role);
}

/**
 * Administrators read the texts of a list as participants would, because an elevation opens only
 * single concerns.
 */
function nativelyVisibleTo(principal: Principal): Fragment {
  if (principal.kind !== "user" || principal.role !== "admin") return ANYBODY;
  return nativeTo(principal.id);
}

async function read(
  connection: CommonQueryMethods,
  conditions: readonly Fragment[],
  limit: number,
  readable: Fragment = ANYBODY,
): Promise<ListedConcern[]> {
  const rows = await connection.any(sql.type(concernRow)`
    select
      c.id, c.session_id as "sessionId", c.category, c.status, c.description, c.resolution,
      c.segment_id as "segmentId", c.start_sample as "from", c.end_sample as "to",
      c.raised_by_kind as "raisedByKind", c.raised_by_id as "raisedById",
      coalesce(${USER_DISPLAY_NAME}, g.display_name) as "displayName",
      c.handled_by_id as "handledById", c.redaction_id as "redactionId",
      c.created_at as "createdAt", c.updated_at as "updatedAt", c.closed_at as "closedAt",
      (${readable}) as readable
    from concerns c
    join sessions s on s.id = c.session_id
    left join users u on c.raised_by_kind = 'user' and u.id = c.raised_by_id
    left join guests g on c.raised_by_kind = 'guest' and g.id = c.raised_by_id
    where ${allOf(conditions)}
    order by c.id desc
    limit ${limit}`);
  return rows.map(toConcern);
}

async function readOne(tx: CommonQueryMethods, id: string): Promise<ConcernRecord> {
  const [concern] = await read(tx, [sql.fragment`c.id = ${id}`], 1);
  if (concern === undefined) throw new AppError("not_found", "There is no concern with this id.");
  return concern;
}

/**
 * Locks the session until this transaction ends, so that it cannot be deleted and no text comes
 * after its erasure.
 */
async function holdSession(tx: CommonQueryMethods, sessionId: string): Promise<void> {
  const stands = await tx.maybeOne(sql.type(nothing)`
    select from sessions where id = ${sessionId} and status <> 'deleted' for share`);
  if (stands === null) throw new AppError("session_deleted", "This session was deleted.");
}

async function segmentSpan(tx: CommonQueryMethods, concern: NewConcern): Promise<Span | undefined> {
  if (concern.segmentId === undefined) return undefined;
  const span = await tx.maybeOne(sql.type(spanRow)`
    select start_sample as "from", end_sample as "to" from segments
    where session_id = ${concern.sessionId} and id = ${concern.segmentId}`);
  if (span === null) throw new AppError("not_found", "There is no segment with this id.");
  return span;
}

async function insertConcern(
  tx: CommonQueryMethods,
  concern: NewConcern,
  span: Span | undefined,
): Promise<void> {
  const { id, sessionId, category, description, segmentId, raisedBy } = concern;
  await tx.query(sql.unsafe`
    insert into concerns (id, session_id, category, description, segment_id, start_sample,
      end_sample, raised_by_kind, raised_by_id)
    values (${id}, ${sessionId}, ${category}, ${description}, ${segmentId ?? null},
      ${span?.from ?? null}, ${span?.to ?? null}, ${raisedBy.kind}, ${raisedBy.id})`);
}

async function updateConcern(
  tx: CommonQueryMethods,
  id: string,
  { status, resolution, redactionId, handledById }: ConcernChange,
  since: number | undefined,
): Promise<boolean> {
  const isClosed = status === "resolved" || status === "dismissed";
  let closedAt = sql.fragment`closed_at`;
  if (status !== undefined) {
    closedAt = isClosed ? sql.fragment`coalesce(closed_at, now())` : sql.fragment`null`;
  }
  const { rowCount } = await tx.query(sql.unsafe`
    update concerns
    set status = coalesce(${status ?? null}, status),
        resolution = coalesce(${resolution ?? null}, resolution),
        redaction_id = coalesce(${redactionId ?? null}, redaction_id),
        -- Whoever complains of words may have quoted them.
        description = case when ${redactionId !== undefined} then ${REDACTED_SPAN} else description end,
        handled_by_id = ${handledById},
        closed_at = ${closedAt},
        updated_at = now()
    where id = ${id} and ${updatedAt(since)}`);
  return rowCount > 0;
}
