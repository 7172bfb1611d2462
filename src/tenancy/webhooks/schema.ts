import { type Static, Type } from "@sinclair/typebox";
import { toTimestamp } from "../../base/clock.ts";
import { exampleId } from "../../rest/example-values.ts";
import {
  WEBHOOK_ERRORS,
  WEBHOOK_EVENT_TYPES,
  WEBHOOK_MESSAGE_TYPES,
} from "../../session/webhook-event.ts";
import type { DeliveryAttempt, DeliveryRecord, WebhookRecord } from "./store.ts";

export const webhookEventTypes = Type.Array(
  Type.Union(WEBHOOK_EVENT_TYPES.map((type) => Type.Literal(type))),
  {
    maxItems: WEBHOOK_EVENT_TYPES.length,
    description: "What to be told of; empty or absent means everything",
  },
);

export const webhookTags = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
  maxItems: 20,
  description:
    "Only of sessions that have all of these tags when it happens; empty or absent means of every session",
  examples: [["support"]],
});

export const webhookSchema = Type.Object(
  {
    id: Type.String(),
    workspace_id: Type.String(),
    url: Type.String({ examples: ["https://example.com/hooks/voice"] }),
    description: Type.String({
      description: "A note of whoever made it",
      examples: ["Feeds the archive."],
    }),
    event_types: webhookEventTypes,
    tags: webhookTags,
    enabled: Type.Boolean(),
    disabled_reason: Type.Optional(
      Type.Union([Type.Literal("gone"), Type.Literal("failing")], {
        description:
          "Why the service switched it off: the endpoint answered 410, or nothing arrived for 5 days",
      }),
    ),
    suspended: Type.Boolean({
      description:
        "True while whoever named the URL last is disabled, erased or no longer an owner of the workspace (or, a service key, revoked, expired or suspended): nothing is sent. What waits is sent when they return or somebody takes it over, if its 3 days are not over",
    }),
    created_by: Type.Optional(
      Type.String({ description: "The user, or the service key, who named the URL last" }),
    ),
    consecutive_failures: Type.Integer({
      description: "Attempts that failed since the last delivery that arrived",
    }),
    failing_since: Type.Optional(Type.String()),
    previous_secret_expires_at: Type.Optional(
      Type.String({ description: "Until then messages carry two signatures" }),
    ),
    created_at: Type.String(),
    updated_at: Type.String(),
  },
  { $id: "Webhook" },
);

export const webhookSecretSchema = Type.Intersect(
  [
    webhookSchema,
    Type.Object({
      secret: Type.String({
        description: "Verifies the signatures; shown this once",
        examples: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="],
      }),
    }),
  ],
  { $id: "WebhookWithSecret" },
);

const attemptSchema = Type.Object(
  {
    at: Type.String(),
    status_code: Type.Optional(
      Type.Integer({ description: "HTTP status of the answer; absent without one" }),
    ),
    error: Type.Optional(
      Type.Union(
        WEBHOOK_ERRORS.map((error) => Type.Literal(error)),
        { description: "Why it failed; absent for one that arrived", examples: ["timeout"] },
      ),
    ),
    duration_ms: Type.Optional(
      Type.Integer({ description: "How long the attempt took, in milliseconds", examples: [120] }),
    ),
  },
  { $id: "DeliveryAttempt" },
);

export const deliverySchema = Type.Object(
  {
    id: Type.String({ description: "`webhook-id` of the message, the same in every attempt" }),
    webhook_id: Type.String(),
    event_type: Type.Union(WEBHOOK_MESSAGE_TYPES.map((type) => Type.Literal(type))),
    status: Type.Union(
      [Type.Literal("pending"), Type.Literal("succeeded"), Type.Literal("failed")],
      { description: "`pending`: it is tried again" },
    ),
    payload: Type.Object(
      {
        type: Type.String(),
        timestamp: Type.String({ description: "When it happened: RFC 3339, UTC, milliseconds" }),
        data: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]), {
          description: "Ids, numbers, labels and states, never words",
          examples: [
            {
              session_id: exampleId("session_id"),
              workspace_id: exampleId("workspace_id"),
              seq: 42,
              status: "completed",
            },
          ],
        }),
      },
      { description: "The message as it was sent, see `webhooks` of this document" },
    ),
    attempt_count: Type.Integer({ description: "Attempts so far" }),
    attempts: Type.Array(attemptSchema, { description: "The latest attempts, oldest first" }),
    suspended: Type.Optional(
      Type.Boolean({ description: "True while it is pending and its webhook suspended" }),
    ),
    next_attempt_at: Type.Optional(
      Type.String({
        description: "While it is pending and its webhook not suspended",
        examples: ["2026-01-31T09:31:10.000Z"],
      }),
    ),
    created_at: Type.String({ examples: ["2026-01-31T09:31:05.000Z"] }),
    completed_at: Type.Optional(Type.String()),
  },
  { $id: "Delivery" },
);

export function presentWebhook(webhook: WebhookRecord): Static<typeof webhookSchema> {
  const { disabledReason, failingSince, previousSecretUntil } = webhook;
  return {
    id: webhook.id,
    workspace_id: webhook.workspaceId,
    url: webhook.url,
    description: webhook.description,
    event_types: webhook.eventTypes,
    tags: webhook.tags,
    enabled: webhook.enabled,
    ...(disabledReason === undefined ? {} : { disabled_reason: disabledReason }),
    suspended: webhook.suspended,
    created_by: webhook.madeBy ?? webhook.madeByKey,
    consecutive_failures: webhook.failures,
    ...(failingSince === undefined ? {} : { failing_since: toTimestamp(failingSince) }),
    ...(previousSecretUntil === undefined
      ? {}
      : { previous_secret_expires_at: toTimestamp(previousSecretUntil) }),
    created_at: toTimestamp(webhook.createdAt),
    updated_at: toTimestamp(webhook.updatedAt),
  };
}

export function presentDelivery(
  { id: webhookId, suspended }: Pick<WebhookRecord, "id" | "suspended">,
  delivery: DeliveryRecord,
): Static<typeof deliverySchema> {
  const { completedAt } = delivery;
  return {
    id: delivery.id,
    webhook_id: webhookId,
    event_type: delivery.eventType,
    status: delivery.status,
    payload: {
      type: delivery.eventType,
      timestamp: toTimestamp(delivery.occurredAt),
      data: delivery.data,
    },
    attempt_count: delivery.attempts,
    attempts: delivery.history.map(presentAttempt),
    ...(delivery.status === "pending" && suspended ? { suspended } : {}),
    ...(delivery.status === "pending" && !suspended
      ? { next_attempt_at: toTimestamp(delivery.nextAttemptAt) }
      : {}),
    created_at: toTimestamp(delivery.createdAt),
    ...(completedAt === undefined ? {} : { completed_at: toTimestamp(completedAt) }),
  };
}

function presentAttempt(attempt: DeliveryAttempt): Static<typeof attemptSchema> {
  const { at, statusCode, error, durationMs } = attempt;
  return {
    at: toTimestamp(at),
    ...(statusCode === undefined ? {} : { status_code: statusCode }),
    ...(error === undefined ? {} : { error }),
    ...(durationMs === undefined ? {} : { duration_ms: durationMs }),
  };
}
