import {
  type CommonQueryMethods,
  type DatabasePool,
  type DatabaseTransactionConnection,
  type FragmentSqlToken,
  sql,
} from "slonik";
import { z } from "zod";
import type { Recorded } from "../../actor/journal.ts";
import { newId } from "../../base/ids.ts";
import type { Progress } from "../../base/work/work-list.ts";
import type { Change } from "../../postgres/append-work.ts";
import { toInstant } from "../../postgres/columns.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import { tenantOf } from "../../postgres/tenants.ts";
import { isWaiting, type WaitingWorkStore } from "../../postgres/waiting-work.ts";
import type { SessionEvent } from "../../session/event.ts";
import {
  toWebhookEvents,
  type WebhookData,
  type WebhookEventType,
} from "../../session/webhook-event.ts";
import type { AttemptResult, DeliveryClaim, FailureVerdict } from "./queue.ts";
import { endPending } from "./store.ts";

interface WebhookEvent {
  type: WebhookEventType;
  /** Unix milliseconds. */
  at: number;
  data: WebhookData;
}

/**
 * Queues an event of a session for each webhook of its workspace that wants it, inside the caller's
 * transaction: it is delivered if, and only if, the transaction commits. Adds ids to `data`.
 *
 * `tags`: those that the session had, where it has lost them in the same transaction
 */
export async function enqueueWebhookEvent(
  connection: Pick<CommonQueryMethods, "query">,
  { sessionId, tags, ...event }: WebhookEvent & { sessionId: string; tags?: readonly string[] },
): Promise<void> {
  const tagged = tags === undefined ? TAGS_NOW : sql.fragment`${sql.array([...tags], "text")}`;
  const rows = insertDeliveries(sessionId, [event], sql.fragment`true`, tagged);
  await connection.query(sql.unsafe`${rows}`);
}

/** The tags that the session has at the moment. */
const TAGS_NOW = sql.fragment`s.tags`;

/** Queues the events of a batch of the journal. Most batches have none for webhooks. */
export function webhookChanges(
  sessionId: string,
  events: readonly Recorded<SessionEvent>[],
): Change[] {
  const found: WebhookEvent[] = [];
  for (const { seq, at, event } of events) {
    for (const { type, data } of toWebhookEvents(event)) {
      found.push({ type, at, data: { ...data, seq } });
    }
  }
  if (found.length === 0) return [];
  return [
    { writes: ["webhook_deliveries"], sql: (when) => insertDeliveries(sessionId, found, when) },
  ];
}

/**
 * Inserts all deliveries in one statement. The webhooks' rows are locked against deletion, so that
 * a webhook deleted meanwhile is skipped and does not fail the caller's transaction at its foreign
 * key.
 */
function insertDeliveries(
  sessionId: string,
  events: readonly WebhookEvent[],
  when: FragmentSqlToken,
  tags: FragmentSqlToken = TAGS_NOW,
): FragmentSqlToken {
  // Ids of the same millisecond are in random order; sorting makes them follow the events.
  const ids = events.map(() => newId()).sort();
  const rows = events.map(({ type, at, data }, index) => [
    ids[index] ?? newId(),
    type,
    new Date(at).toISOString(),
    JSON.stringify(data),
  ]);
  return sql.fragment`
    insert into webhook_deliveries (webhook_id, id, event_type, occurred_at, data)
    select w.id, e.id, e.type, e.at,
      e.data || jsonb_build_object('session_id', s.id, 'workspace_id', s.workspace_id)
    from sessions as s
    join webhooks as w on w.workspace_id = s.workspace_id
    cross join ${sql.unnest(rows, ["uuid", "text", "timestamptz", "jsonb"])} as e (id, type, at, data)
    where s.id = ${sessionId} and w.enabled
      and (w.event_types = '{}' or e.type = any(w.event_types))
      and ${tags} @> w.tags and ${when}
    for key share of w`;
}

const KEPT_ATTEMPTS = 20;
const KEPT_DAYS = 30;
const CLEANED_AT_ONCE = 5_000;

const idRow = z.object({ id: z.string() });
const claimRow = z.object({
  webhookId: z.string(),
  id: z.string(),
  url: z.string(),
  secret: z.instanceof(Buffer),
  previousSecret: optionalColumn(z.instanceof(Buffer)),
  eventType: z.string(),
  data: z.record(z.union([z.string(), z.number()])),
  occurredAt: z.number(),
  attempt: z.number(),
  giveUpAt: z.number(),
  failures: z.number(),
  failingSince: optionalColumn(z.number()),
});

/** How many endpoints may be served at once. */
export interface EndpointShares {
  /** Of one workspace. */
  workspace: number;
  /** Of all workspaces that one account owns. */
  tenant: number;
}

type Queries = Pick<CommonQueryMethods, "any" | "query">;

/**
 * The queue of webhook deliveries in PostgreSQL. All times are Unix milliseconds of the database's
 * clock, whatever the caller's host has: see `DatabaseClock`.
 *
 * An endpoint is leased to one caller at a time, so its messages are sent one after the other, in
 * the order in which they became due. A lease expires by itself, so messages of a crashed process
 * return: delivery is at least once.
 */
export class DeliveryQueueStore {
  readonly #pool: DatabasePool;
  readonly #pendingWork: WaitingWorkStore | undefined;

  /** @param pendingWork skips the query when it knows of no waiting delivery */
  constructor(pool: DatabasePool, pendingWork?: WaitingWorkStore) {
    this.#pool = pool;
    this.#pendingWork = pendingWork;
  }

  /**
   * Claims one due message of each of at most `limit` endpoints, those served longest ago first, but
   * no more of one workspace or one account than their share of all that are being served.
   */
  async claim(
    limit: number,
    now: number,
    leaseMs: number,
    shares: EndpointShares = { workspace: limit, tenant: limit },
  ): Promise<DeliveryClaim[]> {
    if (!(await isWaiting(this.#pendingWork, "deliveries"))) return [];
    const leaseId = newId();
    return this.#pool.transaction(async (tx) => {
      const leased = await lease(tx, leaseId, limit, now, leaseMs, shares);
      if (leased.length === 0) return [];
      const claims = await take(tx, leaseId, leased, now);
      // Another process sent its message between the two statements.
      const empty = leased.filter((id) => !claims.some((claim) => claim.webhookId === id));
      if (empty.length > 0) await free(tx, leaseId, empty, now);
      return claims;
    });
  }

  /** Records that the message arrived, and frees the endpoint. */
  succeeded(claim: DeliveryClaim, result: AttemptResult): Promise<void> {
    return this.#settle(async (tx) => {
      await tx.query(sql.unsafe`
        update webhooks
        set lease_id = null, free_at = ${ended(result)}, failures = 0, failing_since = null
        where id = ${claim.webhookId} and lease_id = ${claim.leaseId}`);
      // Recorded even when the lease was lost meanwhile, because the message has arrived.
      await tx.query(sql.unsafe`
        update webhook_deliveries
        set status = 'succeeded', completed_at = ${ended(result)}, history = ${history(result)}
        where webhook_id = ${claim.webhookId} and id = ${claim.id}`);
    });
  }

  /** Records a failure, and frees the endpoint; ignored when the lease was lost meanwhile. */
  failed(claim: DeliveryClaim, result: AttemptResult, verdict: FailureVerdict): Promise<void> {
    const { disable = null, pauseUntil, failingSince } = verdict;
    const retryAt = disable === null ? verdict.retryAt : undefined;
    return this.#settle(async (tx) => {
      const held = await tx.any(sql.type(idRow)`
        update webhooks
        set lease_id = null, free_at = ${toInstant(pauseUntil)}, failures = failures + 1,
            failing_since = ${toInstant(failingSince)},
            enabled = enabled and ${disable}::text is null,
            disabled_reason = coalesce(${disable}, disabled_reason),
            updated_at = case when ${disable}::text is null then updated_at else now() end
        where id = ${claim.webhookId} and lease_id = ${claim.leaseId}
        returning id`);
      if (held.length === 0) return;
      const next =
        retryAt === undefined
          ? sql.fragment`status = 'failed', completed_at = ${ended(result)}`
          : sql.fragment`next_attempt_at = ${toInstant(retryAt)}`;
      await tx.query(sql.unsafe`
        update webhook_deliveries set ${next}, history = ${history(result)}
        where webhook_id = ${claim.webhookId} and id = ${claim.id} and status <> 'succeeded'`);
      if (disable !== null) await endPending(tx, claim.webhookId);
    });
  }

  /** Returns an interrupted attempt, as if it had never been claimed. */
  release(claim: DeliveryClaim, now: number): Promise<void> {
    return this.#settle(async (tx) => {
      await tx.query(sql.unsafe`
        update webhook_deliveries as d set attempts = greatest(0, attempts - 1)
        from webhooks as w
        where w.id = d.webhook_id and w.lease_id = ${claim.leaseId}
          and d.webhook_id = ${claim.webhookId} and d.id = ${claim.id}`);
      await free(tx, claim.leaseId, [claim.webhookId], now);
    });
  }

  /**
   * Ends deliveries whose time is over and deletes those older than 30 days, a limited number per
   * call; returns how many.
   */
  async clean(now: number): Promise<Progress> {
    const expired = await this.#pool.query(sql.unsafe`
      update webhook_deliveries
      set status = 'failed', completed_at = ${toInstant(now)},
          history = history || jsonb_build_object('at', ${now}::bigint, 'error', 'expired')
      where (webhook_id, id) in (
        select webhook_id, id from webhook_deliveries
        where status = 'pending' and give_up_at < ${toInstant(now)}
        limit ${CLEANED_AT_ONCE} for update skip locked)`);
    const oldest = now - KEPT_DAYS * 86_400_000;
    const deleted = await this.#pool.query(sql.unsafe`
      delete from webhook_deliveries
      where (webhook_id, id) in (
        select webhook_id, id from webhook_deliveries
        where created_at < ${toInstant(oldest)} order by created_at
        limit ${CLEANED_AT_ONCE} for update skip locked)`);
    const more = [expired, deleted].some(({ rowCount }) => rowCount === CLEANED_AT_ONCE);
    return { done: expired.rowCount + deleted.rowCount, more };
  }

  #settle(work: (tx: DatabaseTransactionConnection) => Promise<void>): Promise<void> {
    return this.#pool.transaction(work);
  }
}

/** Leases free endpoints that have something due. */
async function lease(
  tx: Queries,
  leaseId: string,
  limit: number,
  now: number,
  leaseMs: number,
  shares: EndpointShares,
): Promise<string[]> {
  const rows = await tx.any(sql.type(idRow)`
    with busy as (
      select b.workspace_id, ${tenantOf(sql.fragment`b.workspace_id`)} as tenant
      from webhooks b where b.lease_id is not null and b.free_at > ${toInstant(now)}
    ),
    ready as (
      select w.id, w.free_at, coalesce(${tenantOf(sql.fragment`w.workspace_id`)}, w.workspace_id)
          as tenant,
        row_number() over (partition by w.workspace_id order by w.free_at)
          + (select count(*) from busy where busy.workspace_id = w.workspace_id) as place
      from webhooks w
      where w.enabled and w.free_at <= ${toInstant(now)}
        and exists (select from webhook_rights(w.workspace_id, w.made_by, w.made_by_key))
        and exists (
        select from webhook_deliveries d
        where d.webhook_id = w.id and d.status = 'pending'
          and d.next_attempt_at <= ${toInstant(now)})
    ),
    due as (
      select ready.id,
        row_number() over (partition by ready.tenant order by ready.free_at)
          + (select count(*) from busy where busy.tenant = ready.tenant) as place
      from ready where ready.place <= ${shares.workspace}
    )
    update webhooks
    set lease_id = ${leaseId}, free_at = ${toInstant(now + leaseMs)}
    where id in (
      select own.id from due join webhooks as own on own.id = due.id
      where due.place <= ${shares.tenant}
      order by own.free_at
      limit ${limit}
      for no key update of own skip locked)
      and free_at <= ${toInstant(now)}
    returning id`);
  return rows.map(({ id }) => id);
}

/** The message of each leased endpoint that has been due longest. */
async function take(
  tx: Queries,
  leaseId: string,
  leased: readonly string[],
  now: number,
): Promise<DeliveryClaim[]> {
  const rows = await tx.any(sql.type(claimRow)`
    update webhook_deliveries as d
    set attempts = d.attempts + 1
    from webhooks as w
    cross join lateral (
      select id from webhook_deliveries
      where webhook_id = w.id and status = 'pending' and next_attempt_at <= ${toInstant(now)}
      order by next_attempt_at, id
      limit 1
    ) as due
    where w.id = any(${sql.array([...leased], "uuid")})
      and d.webhook_id = w.id and d.id = due.id and d.status = 'pending'
    returning w.id as "webhookId", d.id, w.url, w.secret,
      case when w.previous_secret_until > ${toInstant(now)} then w.previous_secret end
        as "previousSecret",
      d.event_type as "eventType", d.data, d.occurred_at as "occurredAt",
      d.attempts as attempt, d.give_up_at as "giveUpAt",
      w.failures, w.failing_since as "failingSince"`);
  return rows.map(({ secret, previousSecret, ...claim }) => ({
    ...claim,
    leaseId,
    secrets: previousSecret === undefined ? [secret] : [secret, previousSecret],
  }));
}

async function free(
  tx: Queries,
  leaseId: string,
  ids: readonly string[],
  now: number,
): Promise<void> {
  await tx.query(sql.unsafe`
    update webhooks set lease_id = null, free_at = ${toInstant(now)}
    where id = any(${sql.array([...ids], "uuid")}) and lease_id = ${leaseId}`);
}

function ended({ at, durationMs }: AttemptResult): ReturnType<typeof toInstant> {
  return toInstant(at + durationMs);
}

/**
 * SQL that appends the attempt to the history; the oldest attempts are dropped when there are many.
 */
function history(result: AttemptResult): ReturnType<typeof sql.fragment> {
  const entry = JSON.stringify([result]);
  return sql.fragment`(
    case when jsonb_array_length(history) < ${KEPT_ATTEMPTS} then history else history - 0 end
  ) || ${entry}::jsonb`;
}
