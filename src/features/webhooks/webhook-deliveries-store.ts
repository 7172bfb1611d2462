import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { newId } from "../../base/ids.ts";
import { allOf, toPage } from "../../postgres/keyset.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import type { Page, PageRequest } from "../../rest/page.ts";
import { WEBHOOK_ERRORS, WEBHOOK_MESSAGE_TYPES } from "../../session/webhook-event.ts";
import type { DeliveryLog, DeliveryRecord, DeliveryStatus } from "./webhooks-directory.ts";

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

const COLUMNS = sql.fragment`
  id, event_type as "eventType", data, occurred_at as "occurredAt", status, attempts, history,
  next_attempt_at as "nextAttemptAt", created_at as "createdAt", completed_at as "completedAt"`;

/** The delivery log in PostgreSQL. */
export class WebhookDeliveryStore implements DeliveryLog {
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
      select ${COLUMNS} from webhook_deliveries where ${allOf(conditions)}
      order by id desc limit ${page.limit + 1}`);
    return toPage(rows, page.limit, (delivery) => delivery.id);
  }

  async find(webhookId: string, id: string): Promise<DeliveryRecord | undefined> {
    const row = await this.#pool.maybeOne(sql.type(deliveryRow)`
      select ${COLUMNS} from webhook_deliveries where webhook_id = ${webhookId} and id = ${id}`);
    return row ?? undefined;
  }

  test(webhookId: string): Promise<DeliveryRecord | undefined> {
    return this.#pool.transaction(async (tx) => {
      await endPause(tx, webhookId);
      const row = await tx.maybeOne(sql.type(deliveryRow)`
        insert into webhook_deliveries (webhook_id, id, event_type, occurred_at, data)
        select id, ${newId()}, 'webhook.test', now(),
          jsonb_build_object('webhook_id', id, 'workspace_id', workspace_id)
        from webhooks where id = ${webhookId} for key share
        returning ${COLUMNS}`);
      return row ?? undefined;
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
        returning ${COLUMNS}`);
      return row ?? undefined;
    });
  }
}

/** What a person asks for does not wait for an endpoint's pause to end. */
async function endPause(tx: Pick<CommonQueryMethods, "query">, webhookId: string): Promise<void> {
  await tx.query(sql.unsafe`
    update webhooks set free_at = '-infinity' where id = ${webhookId} and lease_id is null`);
}

/** Ends what waits for a webhook that was switched off. */
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
