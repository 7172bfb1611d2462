import type { AuditActor } from "../../access/audit-trail.ts";
import type { Page, PageRequest } from "../../rest/page.ts";
import type {
  WebhookData,
  WebhookError,
  WebhookEventType,
  WebhookMessageType,
} from "../../session/webhook-event.ts";

export interface WebhookRecord {
  id: string;
  workspaceId: string;
  url: string;
  description: string;
  /** Empty means every type. */
  eventTypes: WebhookEventType[];
  enabled: boolean;
  disabledReason?: "gone" | "failing" | undefined;
  /** Deliveries that failed since the last one that arrived. */
  failures: number;
  failingSince?: number | undefined;
  /** Until then the secret before this one signs too. */
  previousSecretUntil?: number | undefined;
  createdAt: number;
  updatedAt: number;
}

export interface NewWebhook {
  id: string;
  workspaceId: string;
  url: string;
  description: string;
  eventTypes: readonly WebhookEventType[];
  enabled: boolean;
  sealedSecret: Uint8Array;
}

export interface WebhookChange {
  url?: string | undefined;
  description?: string | undefined;
  eventTypes?: readonly WebhookEventType[] | undefined;
  enabled?: boolean | undefined;
}

/**
 * Port: the webhooks of workspaces. Each change and its audit entry stand or
 * fall together. Switching a webhook off ends what waits for it; switching it
 * on, or giving it another URL, forgets earlier failures.
 */
export interface WebhookDirectory {
  /** Undefined when the workspace has `limit` webhooks already. */
  insert(webhook: NewWebhook, limit: number, by: AuditActor): Promise<WebhookRecord | undefined>;
  find(workspaceId: string, id: string): Promise<WebhookRecord | undefined>;
  list(workspaceId: string, page: PageRequest): Promise<Page<WebhookRecord>>;
  /** Undefined when there is none any more, or it was changed since `expected`, its `updated_at`. */
  change(
    id: string,
    change: WebhookChange,
    by: AuditActor,
    expected?: string,
  ): Promise<WebhookRecord | undefined>;
  /** Puts a new secret in place; the one before signs too until `keepUntil`. */
  rotate(
    id: string,
    sealedSecret: Uint8Array,
    keepUntil: number,
    by: AuditActor,
  ): Promise<WebhookRecord | undefined>;
  /** With its deliveries; nothing happens when it is gone. */
  remove(id: string, by: AuditActor): Promise<void>;
}

export type DeliveryStatus = "pending" | "succeeded" | "failed";

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

/** Port: what was, and is to be, delivered to a webhook. */
export interface DeliveryLog {
  list(
    webhookId: string,
    status: DeliveryStatus | undefined,
    page: PageRequest,
  ): Promise<Page<DeliveryRecord>>;
  find(webhookId: string, id: string): Promise<DeliveryRecord | undefined>;
  /** Queues a `webhook.test`; undefined when the webhook is gone. */
  test(webhookId: string): Promise<DeliveryRecord | undefined>;
  /** Due now, with all its attempts before it again; undefined when there is none any more. */
  retry(webhookId: string, id: string): Promise<DeliveryRecord | undefined>;
}

/** Port: where webhooks may be sent to. */
export interface EndpointCheck {
  /** Why not to this URL, as a sentence; undefined when it may be. */
  refusal(url: string): Promise<string | undefined>;
}
