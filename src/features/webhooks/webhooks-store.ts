import { type DatabasePool, type DatabaseTransactionConnection, sql } from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../../access/audit-entries-store.ts";
import type { AuditActor, AuditKind } from "../../access/audit-trail.ts";
import { toInstant } from "../../postgres/instant.ts";
import { allOf, toPage } from "../../postgres/keyset.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import type { Page, PageRequest } from "../../rest/page.ts";
import { WEBHOOK_EVENT_TYPES } from "../../session/webhook-event.ts";
import { endPending } from "./webhook-deliveries-store.ts";
import type {
  NewWebhook,
  WebhookChange,
  WebhookDirectory,
  WebhookRecord,
} from "./webhooks-directory.ts";

const webhookRow = z.object({
  id: z.string(),
  workspaceId: z.string(),
  url: z.string(),
  description: z.string(),
  eventTypes: z.array(z.enum(WEBHOOK_EVENT_TYPES)),
  enabled: z.boolean(),
  disabledReason: optionalColumn(z.enum(["gone", "failing"])),
  failures: z.number(),
  failingSince: optionalColumn(z.number()),
  previousSecretUntil: optionalColumn(z.number()),
  createdAt: z.number(),
  updatedAt: z.number(),
});

const COLUMNS = sql.fragment`
  id, workspace_id as "workspaceId", url, description, event_types as "eventTypes", enabled,
  disabled_reason as "disabledReason", failures, failing_since as "failingSince",
  case when previous_secret_until > now() then previous_secret_until end as "previousSecretUntil",
  created_at as "createdAt", updated_at as "updatedAt"`;

/** Webhooks in PostgreSQL; an audit entry goes with each change. */
export class WebhookStore implements WebhookDirectory {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  insert(webhook: NewWebhook, limit: number, by: AuditActor): Promise<WebhookRecord | undefined> {
    return this.#change("webhook_created", by, async (tx) => {
      // Under the workspace's lock two requests cannot both take the last place.
      await tx.query(sql.unsafe`
        select from workspaces where id = ${webhook.workspaceId} for no key update`);
      const count = await tx.oneFirst(sql.type(z.object({ count: z.number() }))`
        select count(*) from webhooks where workspace_id = ${webhook.workspaceId}`);
      if (count >= limit) return null;
      return tx.one(sql.type(webhookRow)`
        insert into webhooks (id, workspace_id, url, description, event_types, enabled, secret)
        values (${webhook.id}, ${webhook.workspaceId}, ${webhook.url}, ${webhook.description},
          ${sql.array([...webhook.eventTypes], "text")}, ${webhook.enabled},
          ${sql.binary(Buffer.from(webhook.sealedSecret))})
        returning ${COLUMNS}`);
    });
  }

  async find(workspaceId: string, id: string): Promise<WebhookRecord | undefined> {
    const row = await this.#pool.maybeOne(sql.type(webhookRow)`
      select ${COLUMNS} from webhooks where id = ${id} and workspace_id = ${workspaceId}`);
    return row ?? undefined;
  }

  async list(workspaceId: string, page: PageRequest): Promise<Page<WebhookRecord>> {
    const conditions = [sql.fragment`workspace_id = ${workspaceId}`];
    if (page.after !== undefined) conditions.push(sql.fragment`id < ${page.after}::uuid`);
    const rows = await this.#pool.any(sql.type(webhookRow)`
      select ${COLUMNS} from webhooks where ${allOf(conditions)}
      order by id desc limit ${page.limit + 1}`);
    return toPage(rows, page.limit, (webhook) => webhook.id);
  }

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
    const afresh = url !== null || enabled === true;
    return this.#change("webhook_changed", by, async (tx) => {
      const row = await tx.maybeOne(sql.type(webhookRow)`
        update webhooks
        set url = coalesce(${url}, url), description = coalesce(${description}, description),
            enabled = coalesce(${enabled}, enabled), event_types = ${types},
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

  rotate(
    id: string,
    sealedSecret: Uint8Array,
    keepUntil: number,
    by: AuditActor,
  ): Promise<WebhookRecord | undefined> {
    return this.#change("webhook_changed", by, (tx) =>
      tx.maybeOne(sql.type(webhookRow)`
        update webhooks
        set previous_secret = secret, previous_secret_until = ${toInstant(keepUntil)},
            secret = ${sql.binary(Buffer.from(sealedSecret))}, updated_at = now()
        where id = ${id}
        returning ${COLUMNS}`),
    );
  }

  async remove(id: string, by: AuditActor): Promise<void> {
    await this.#change("webhook_deleted", by, (tx) =>
      tx.maybeOne(sql.type(webhookRow)`
        delete from webhooks where id = ${id} returning ${COLUMNS}`),
    );
  }

  #change(
    kind: AuditKind,
    actor: AuditActor,
    work: (tx: DatabaseTransactionConnection) => Promise<WebhookRecord | null>,
  ): Promise<WebhookRecord | undefined> {
    return this.#pool.transaction(async (tx) => {
      const webhook = await work(tx);
      if (webhook === null) return undefined;
      const { id: subjectId, workspaceId, enabled } = webhook;
      await insertAuditEntry(tx, { kind, actor, workspaceId, subjectId, detail: { enabled } });
      return webhook;
    });
  }
}
