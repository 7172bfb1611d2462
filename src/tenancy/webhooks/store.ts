import {
  type CommonQueryMethods,
  type DatabasePool,
  type DatabaseTransactionConnection,
  type FragmentSqlToken as Fragment,
  sql,
} from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../../access/audit-entries-store.ts";
import type { AuditActor, AuditEntry, AuditKind } from "../../access/audit-entry.ts";
import { newId } from "../../base/ids.ts";
import { type Ceilings, NO_CEILINGS } from "../../postgres/ceilings.ts";
import { allOf, toInstant, toPage } from "../../postgres/columns.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import type { Page, PageRequest } from "../../rest/page.ts";
import {
  WEBHOOK_ERRORS,
  WEBHOOK_EVENT_TYPES,
  WEBHOOK_MESSAGE_TYPES,
  type WebhookData,
  type WebhookError,
  type WebhookEventType,
  type WebhookMessageType,
} from "../../session/webhook-event.ts";

export interface WebhookRecord {
  id: string;
  workspaceId: string;
  url: string;
  description: string;
  /** Empty means every type. */
  eventTypes: WebhookEventType[];
  /** A session has to have all of them. */
  tags: string[];
  enabled: boolean;
  disabledReason?: "gone" | "failing" | undefined;
  /** True while whoever made it has no right to it: nothing is sent. */
  suspended: boolean;
  /** The user or the service key that named its URL last. */
  madeBy?: string | undefined;
  madeByKey?: string | undefined;
  /** Number of failed deliveries since the last successful one. */
  failures: number;
  failingSince?: number | undefined;
  /** Until this time the previous secret signs too, Unix milliseconds. */
  previousSecretUntil?: number | undefined;
  createdAt: number;
  updatedAt: number;
}

interface NewWebhook {
  id: string;
  workspaceId: string;
  url: string;
  description: string;
  eventTypes: readonly WebhookEventType[];
  tags: readonly string[];
  enabled: boolean;
  encryptedSecret: Uint8Array;
}

interface WebhookChange {
  url?: string | undefined;
  description?: string | undefined;
  eventTypes?: readonly WebhookEventType[] | undefined;
  tags?: readonly string[] | undefined;
  enabled?: boolean | undefined;
}

/** From one instant to another, which is not in it; Unix milliseconds. */
interface Span {
  from: number;
  to: number;
}

interface Replayed {
  count: number;
  /** From this instant on there may be more; undefined: there are none. */
  next: number | undefined;
}

const replayedRow = z.object({ occurredAt: z.number() });

type DeliveryStatus = "pending" | "succeeded" | "failed";

export interface DeliveryAttempt {
  at: number;
  statusCode?: number | undefined;
  error?: WebhookError | undefined;
  durationMs?: number | undefined;
}

export interface DeliveryRecord {
  id: string;
  eventType: WebhookMessageType;
  data: WebhookData;
  occurredAt: number;
  status: DeliveryStatus;
  attempts: number;
  /** The latest attempts, oldest first. */
  history: DeliveryAttempt[];
  nextAttemptAt: number;
  createdAt: number;
  completedAt?: number | undefined;
}

const attempt = z.object({
  at: z.number(),
  statusCode: z.number().optional(),
  error: z.enum(WEBHOOK_ERRORS).optional(),
  durationMs: z.number().optional(),
});

const deliveryRow = z.object({
  id: z.string(),
  eventType: z.enum(WEBHOOK_MESSAGE_TYPES),
  data: z.record(z.union([z.string(), z.number()])),
  occurredAt: z.number(),
  status: z.enum(["pending", "succeeded", "failed"]),
  attempts: z.number(),
  history: z.array(attempt),
  nextAttemptAt: z.number(),
  createdAt: z.number(),
  completedAt: optionalColumn(z.number()),
});

const DELIVERY_COLUMNS = sql.fragment`
  id, event_type as "eventType", data, occurred_at as "occurredAt", status, attempts, history,
  next_attempt_at as "nextAttemptAt", created_at as "createdAt", completed_at as "completedAt"`;

/** The delivery log of webhooks in PostgreSQL. */
export class DeliveryStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  async list(
    webhookId: string,
    status: DeliveryStatus | undefined,
    page: PageRequest,
  ): Promise<Page<DeliveryRecord>> {
    const conditions = [sql.fragment`webhook_id = ${webhookId}`];
    if (status !== undefined) conditions.push(sql.fragment`status = ${status}`);
    if (page.after !== undefined) conditions.push(sql.fragment`id < ${page.after}::uuid`);
    const rows = await this.#pool.any(sql.type(deliveryRow)`
      select ${DELIVERY_COLUMNS} from webhook_deliveries where ${allOf(conditions)}
      order by id desc limit ${page.limit + 1}`);
    return toPage(rows, page.limit, (delivery) => delivery.id);
  }

  async find(webhookId: string, id: string): Promise<DeliveryRecord | undefined> {
    const row = await this.#pool.maybeOne(sql.type(deliveryRow)`
      select ${DELIVERY_COLUMNS} from webhook_deliveries where webhook_id = ${webhookId} and id = ${id}`);
    return row ?? undefined;
  }

  /** Queues a `webhook.test`; undefined when the webhook was deleted. */
  test(webhookId: string): Promise<DeliveryRecord | undefined> {
    return this.#pool.transaction(async (tx) => {
      await endPause(tx, webhookId);
      const row = await tx.maybeOne(sql.type(deliveryRow)`
        insert into webhook_deliveries (webhook_id, id, event_type, occurred_at, data)
        select id, ${newId()}, 'webhook.test', now(),
          jsonb_build_object('webhook_id', id, 'workspace_id', workspace_id)
        from webhooks where id = ${webhookId} for key share
        returning ${DELIVERY_COLUMNS}`);
      return row ?? undefined;
    });
  }

  /**
   * Makes the delivery due now, with a full number of attempts; undefined when it no longer exists.
   */
  /**
   * Sends messages of a span again, oldest first, under their ids: those that arrived or were given
   * up, at most `limit`. Returns how many, and from when on there are more.
   */
  replay(webhookId: string, { from, to }: Span, limit: number): Promise<Replayed> {
    return this.#pool.transaction(async (tx) => {
      await endPause(tx, webhookId);
      const rows = await tx.any(sql.type(replayedRow)`
        with due as (
          select id from webhook_deliveries
          where webhook_id = ${webhookId} and status <> 'pending'
            and occurred_at >= ${toInstant(from)} and occurred_at < ${toInstant(to)}
          order by occurred_at, id limit ${limit})
        update webhook_deliveries d
        set status = 'pending', attempts = 0, completed_at = null, next_attempt_at = now(),
            give_up_at = now() + interval '72 hours'
        from due where d.webhook_id = ${webhookId} and d.id = due.id
        returning d.occurred_at as "occurredAt"`);
      const last = Math.max(...rows.map(({ occurredAt }) => occurredAt));
      return { count: rows.length, next: rows.length < limit ? undefined : last };
    });
  }

  retry(webhookId: string, id: string): Promise<DeliveryRecord | undefined> {
    return this.#pool.transaction(async (tx) => {
      await endPause(tx, webhookId);
      const row = await tx.maybeOne(sql.type(deliveryRow)`
        update webhook_deliveries
        set status = 'pending', attempts = 0, completed_at = null, next_attempt_at = now(),
            give_up_at = now() + interval '72 hours'
        where webhook_id = ${webhookId} and id = ${id}
        returning ${DELIVERY_COLUMNS}`);
      return row ?? undefined;
    });
  }
}

/** Ends the endpoint's pause, because a person's request should not wait for it. */
async function endPause(tx: Pick<CommonQueryMethods, "query">, webhookId: string): Promise<void> {
  await tx.query(sql.unsafe`
    update webhooks set free_at = '-infinity' where id = ${webhookId} and lease_id is null`);
}

/** Ends pending deliveries of a webhook that was disabled. */
export async function endPending(
  tx: Pick<CommonQueryMethods, "query">,
  webhookId: string,
): Promise<void> {
  await tx.query(sql.unsafe`
    update webhook_deliveries set status = 'failed', completed_at = now(),
      history = history || jsonb_build_object(
        'at', (extract(epoch from now()) * 1000)::bigint, 'error', 'disabled')
    where webhook_id = ${webhookId} and status = 'pending'`);
}

/** The columns that name whoever is the maker. */
function makersOf({ kind, id }: AuditActor): { user: Fragment; key: Fragment } {
  return {
    user: sql.fragment`${kind === "user" ? (id ?? null) : null}::uuid`,
    key: sql.fragment`${kind === "service" ? (id ?? null) : null}::uuid`,
  };
}

const webhookRow = z.object({
  id: z.string(),
  workspaceId: z.string(),
  url: z.string(),
  description: z.string(),
  eventTypes: z.array(z.enum(WEBHOOK_EVENT_TYPES)),
  tags: z.array(z.string()),
  enabled: z.boolean(),
  disabledReason: optionalColumn(z.enum(["gone", "failing"])),
  suspended: z.boolean(),
  madeBy: optionalColumn(z.string()),
  madeByKey: optionalColumn(z.string()),
  failures: z.number(),
  failingSince: optionalColumn(z.number()),
  previousSecretUntil: optionalColumn(z.number()),
  createdAt: z.number(),
  updatedAt: z.number(),
});

/** Columns of `webhookRow`, of the webhook `w`. */
const COLUMNS = sql.fragment`
  id, workspace_id as "workspaceId", url, description, event_types as "eventTypes", tags, enabled,
  disabled_reason as "disabledReason",
  not exists (select from webhook_rights(w.workspace_id, w.made_by, w.made_by_key)) as suspended,
  made_by as "madeBy", made_by_key as "madeByKey", failures, failing_since as "failingSince",
  case when previous_secret_until > now() then previous_secret_until end as "previousSecretUntil",
  created_at as "createdAt", updated_at as "updatedAt"`;

/**
 * Webhooks of workspaces in PostgreSQL. Each change and its audit entry are one transaction.
 * Disabling a webhook ends its pending deliveries; enabling it, or changing its URL, clears earlier
 * failures.
 */
export class WebhookStore {
  readonly #pool: DatabasePool;
  readonly #ceilings: Ceilings;

  constructor(pool: DatabasePool, ceilings = NO_CEILINGS) {
    this.#pool = pool;
    this.#ceilings = ceilings;
  }

  /** Throws `quota_exceeded` when the workspace has as many as it may. */
  async insert(webhook: NewWebhook, by: AuditActor): Promise<WebhookRecord> {
    const makers = makersOf(by);
    return this.#record("webhook_created", by, async (tx) => {
      await this.#ceilings.assertRoom(tx, "webhooks_per_workspace", webhook.workspaceId);
      return tx.one(sql.type(webhookRow)`
        insert into webhooks as w (id, workspace_id, url, description, event_types, tags, enabled,
          secret, made_by, made_by_key)
        values (${webhook.id}, ${webhook.workspaceId}, ${webhook.url}, ${webhook.description},
          ${sql.array([...webhook.eventTypes], "text")}, ${sql.array([...webhook.tags], "text")},
          ${webhook.enabled},
          ${sql.binary(Buffer.from(webhook.encryptedSecret))}, ${makers.user}, ${makers.key})
        returning ${COLUMNS}`);
    });
  }

  async find(workspaceId: string, id: string): Promise<WebhookRecord | undefined> {
    const row = await this.#pool.maybeOne(sql.type(webhookRow)`
      select ${COLUMNS} from webhooks w where id = ${id} and workspace_id = ${workspaceId}`);
    return row ?? undefined;
  }

  async list(workspaceId: string, page: PageRequest): Promise<Page<WebhookRecord>> {
    const conditions = [sql.fragment`workspace_id = ${workspaceId}`];
    if (page.after !== undefined) conditions.push(sql.fragment`id < ${page.after}::uuid`);
    const rows = await this.#pool.any(sql.type(webhookRow)`
      select ${COLUMNS} from webhooks w where ${allOf(conditions)}
      order by id desc limit ${page.limit + 1}`);
    return toPage(rows, page.limit, (webhook) => webhook.id);
  }

  /** Undefined when the webhook was deleted, or changed since `expected`, its `updated_at`. */
  change(
    id: string,
    change: WebhookChange,
    by: AuditActor,
    expected?: string,
  ): Promise<WebhookRecord | undefined> {
    const { url = null, description = null, enabled = null } = change;
    const types =
      change.eventTypes === undefined
        ? sql.fragment`event_types`
        : sql.array([...change.eventTypes], "text");
    const tags =
      change.tags === undefined ? sql.fragment`tags` : sql.array([...change.tags], "text");
    const afresh = url !== null || enabled === true;
    const makers = makersOf(by);
    return this.#change("webhook_changed", by, async (tx) => {
      const row = await tx.maybeOne(sql.type(webhookRow)`
        update webhooks w
        set url = coalesce(${url}, url),
            made_by = case when ${url}::text is null then made_by else ${makers.user} end,
            made_by_key = case when ${url}::text is null then made_by_key else ${makers.key} end,
            description = coalesce(${description}, description),
            enabled = coalesce(${enabled}, enabled), event_types = ${types}, tags = ${tags},
            failures = case when ${afresh} then 0 else failures end,
            failing_since = case when ${afresh} then null else failing_since end,
            free_at = case when ${afresh} and lease_id is null then '-infinity' else free_at end,
            disabled_reason = case when ${enabled}::boolean is null then disabled_reason end,
            updated_at = now()
        where id = ${id} and date_trunc('milliseconds', updated_at)
          = coalesce(${expected ?? null}::timestamptz, date_trunc('milliseconds', updated_at))
        returning ${COLUMNS}`);
      if (row !== null && enabled === false) await endPending(tx, id);
      return row;
    });
  }

  /** Sets a new secret; the previous one signs too until `keepUntil`. */
  rotate(
    id: string,
    encryptedSecret: Uint8Array,
    keepUntil: number,
    by: AuditActor,
  ): Promise<WebhookRecord | undefined> {
    return this.#change("webhook_changed", by, (tx) =>
      tx.maybeOne(sql.type(webhookRow)`
        update webhooks w
        set previous_secret = secret, previous_secret_until = ${toInstant(keepUntil)},
            secret = ${sql.binary(Buffer.from(encryptedSecret))}, updated_at = now()
        where id = ${id}
        returning ${COLUMNS}`),
    );
  }

  /** Deletes the webhook with its deliveries; repeatable. */
  async remove(id: string, by: AuditActor): Promise<void> {
    await this.#change("webhook_deleted", by, (tx) =>
      tx.maybeOne(sql.type(webhookRow)`
        delete from webhooks w where id = ${id} returning ${COLUMNS}`),
    );
  }

  /** Makes the user the webhook's maker; undefined when it was deleted. */
  adopt(id: string, userId: string, detail: AuditEntry["detail"]) {
    const by: AuditActor = { kind: "user", id: userId };
    return this.#change(
      "webhook_adopted",
      by,
      (tx) =>
        tx.maybeOne(sql.type(webhookRow)`
          update webhooks w
          set made_by = ${userId}, made_by_key = null, updated_at = now()
          where id = ${id}
          returning ${COLUMNS}`),
      detail,
    );
  }

  /** Undefined when there is nothing to change any more. */
  async #change(
    kind: AuditKind,
    actor: AuditActor,
    work: (tx: DatabaseTransactionConnection) => Promise<WebhookRecord | null>,
    more?: AuditEntry["detail"],
  ): Promise<WebhookRecord | undefined> {
    return (await this.#record(kind, actor, work, more)) ?? undefined;
  }

  #record<T extends WebhookRecord | null>(
    kind: AuditKind,
    actor: AuditActor,
    work: (tx: DatabaseTransactionConnection) => Promise<T>,
    more: AuditEntry["detail"] = {},
  ): Promise<T> {
    return this.#pool.transaction(async (tx) => {
      const webhook = await work(tx);
      if (webhook === null) return webhook;
      const { id: subjectId, workspaceId, enabled } = webhook;
      await insertAuditEntry(tx, {
        kind,
        actor,
        workspaceId,
        subjectId,
        detail: { enabled, ...more },
      });
      return webhook;
    });
  }
}

/** For whoever deletes a workspace. */
export async function endWebhooksOf(tx: CommonQueryMethods, workspaceId: string): Promise<void> {
  await tx.query(sql.unsafe`delete from webhooks where workspace_id = ${workspaceId}`);
}
