import { type CommonQueryMethods, type FragmentSqlToken, sql } from "slonik";
import type { Recorded } from "../../actor/journal.ts";
import { newId } from "../../base/ids.ts";
import type { Change } from "../../postgres/append-work.ts";
import type { SessionEvent } from "../../session/event.ts";
import {
  toWebhookEvent,
  type WebhookData,
  type WebhookEventType,
} from "../../session/webhook-event.ts";

interface WebhookEvent {
  type: WebhookEventType;
  /** Unix milliseconds. */
  at: number;
  data: WebhookData;
}

/**
 * Puts what happened in a session in the queue of each webhook of its workspace
 * that wants it, inside the caller's transaction: it is delivered if, and only
 * if, the transaction commits. Ids are added to `data` here.
 */
export async function enqueueWebhookEvent(
  connection: Pick<CommonQueryMethods, "query">,
  { sessionId, ...event }: WebhookEvent & { sessionId: string },
): Promise<void> {
  await connection.query(sql.unsafe`${insertDeliveries(sessionId, [event], sql.fragment`true`)}`);
}

/** The same for a batch of the journal. Most batches hold nothing for webhooks. */
export function webhookChanges(
  sessionId: string,
  events: readonly Recorded<SessionEvent>[],
): Change[] {
  const found: WebhookEvent[] = [];
  for (const { seq, at, event } of events) {
    const told = toWebhookEvent(event);
    if (told !== undefined) found.push({ type: told.type, at, data: { ...told.data, seq } });
  }
  if (found.length === 0) return [];
  return [
    { writes: ["webhook_deliveries"], sql: (when) => insertDeliveries(sessionId, found, when) },
  ];
}

/**
 * One statement, whatever there is to tell. The webhooks' rows are locked
 * against deletion, so that one deleted meanwhile is passed over rather than
 * failing the caller's transaction at its foreign key.
 */
function insertDeliveries(
  sessionId: string,
  events: readonly WebhookEvent[],
  when: FragmentSqlToken,
): FragmentSqlToken {
  // Ids of one millisecond are in random order; sorted they follow the events.
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
      and (w.event_types = '{}' or e.type = any(w.event_types)) and ${when}
    for key share of w`;
}
