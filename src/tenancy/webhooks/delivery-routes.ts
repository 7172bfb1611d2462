import { Type } from "@sinclair/typebox";
import { type Clock, toTimestamp } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import { exampleId } from "../../rest/example-values.ts";
import { pageQuery, pageSchema, toPageBody, toPageRequest } from "../../rest/page.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import { type GrantingOptions, requireGranting } from "../workspaces/members-routes.ts";
import {
  actorOfCaller,
  existing,
  requireWebhook,
  WEBHOOK_CALLERS,
  type WebhookAccessOptions,
  webhookParams,
} from "./routes.ts";
import { deliverySchema, presentDelivery, presentWebhook, webhookSecretSchema } from "./schema.ts";
import type { WebhookSecrets } from "./secrets.ts";
import type { DeliveryRecord, DeliveryStore, WebhookRecord } from "./store.ts";

const OLD_SECRET_MS = 24 * 3_600_000;

interface WebhookDeliveryOptions extends WebhookAccessOptions, GrantingOptions {
  workspaces: GrantingOptions["workspaces"];
  deliveries: DeliveryStore;
  secrets: Pick<WebhookSecrets, "create">;
  clock: Clock;
  cursorKey: Uint8Array;
}

/**
 * Below /workspaces/{id}/webhooks/{webhook_id}: POST test and rotate-secret, the delivery log and
 * POST retry and replay.
 */
export function webhookDeliveryRoutes(options: WebhookDeliveryOptions): Route[] {
  return [
    testWebhook(options),
    rotateSecret(options),
    listDeliveries(options),
    retryDelivery(options),
    replayDeliveries(options),
  ];
}

function testWebhook(options: WebhookDeliveryOptions): Route {
  return defineRoute({
    ...WEBHOOK_CALLERS,
    method: "post",
    path: "/workspaces/{id}/webhooks/{webhook_id}/test",
    id: "testWebhook",
    summary: "Send a `webhook.test`",
    description: "It is queued like any other message; its outcome is in the delivery log.",
    params: webhookParams,
    responses: {
      201: {
        description: "The delivery",
        schema: deliverySchema,
        example: {
          event_type: "webhook.test",
          status: "pending",
          attempt_count: 0,
          attempts: [],
          payload: {
            type: "webhook.test",
            timestamp: "2026-01-31T09:31:05.000Z",
            data: {
              webhook_id: exampleId("webhook_id"),
              workspace_id: exampleId("workspace_id"),
            },
          },
        },
      },
    },
    errors: ["conflict"],
    resolve: ({ principal, params }) => requireWebhook(options, principal, params),
    async handle(_request, webhook: WebhookRecord) {
      assertEnabled(webhook);
      const delivery = existing(await options.deliveries.test(webhook.id));
      return { status: 201, body: presentDelivery(webhook, delivery) };
    },
  });
}

function assertEnabled(webhook: WebhookRecord): void {
  if (!webhook.enabled) {
    throw new AppError("conflict", "This webhook is switched off. Set `enabled` first.");
  }
  if (!webhook.suspended) return;
  throw new AppError(
    "conflict",
    "This webhook is suspended, because whoever made it has no right to it any more. An owner takes it over with POST …/adopt.",
  );
}

function rotateSecret(options: WebhookDeliveryOptions): Route {
  return defineRoute({
    ...WEBHOOK_CALLERS,
    method: "post",
    path: "/workspaces/{id}/webhooks/{webhook_id}/rotate-secret",
    id: "rotateWebhookSecret",
    summary: "Give a webhook a new secret",
    description:
      "For 24 h messages carry two signatures, of the new secret and of the one before, so that a receiver can change over without losing any. By an owner of the workspace, one of its service keys, or an administrator under an elevation that covers it: whoever has the secret can sign messages.",
    params: webhookParams,
    responses: {
      200: {
        description: "The webhook and its new secret",
        schema: webhookSecretSchema,
        example: { previous_secret_expires_at: "2026-02-01T09:31:09.000Z" },
      },
    },
    errors: ["elevation_required"],
    async resolve({ principal, params }) {
      if (principal?.kind === "user") await requireGranting(options, principal, params.id);
      return requireWebhook(options, principal, params);
    },
    async handle({ principal }, webhook: WebhookRecord) {
      const { secret, encrypted } = options.secrets.create(webhook.id);
      const keepUntil = options.clock.now() + OLD_SECRET_MS;
      const by = actorOfCaller(principal);
      const rotated = existing(await options.webhooks.rotate(webhook.id, encrypted, keepUntil, by));
      return {
        status: 200,
        body: { ...presentWebhook(rotated), secret },
        headers: { "cache-control": "no-store" },
      };
    },
  });
}

function listDeliveries(options: WebhookDeliveryOptions): Route {
  return defineRoute({
    ...WEBHOOK_CALLERS,
    method: "get",
    path: "/workspaces/{id}/webhooks/{webhook_id}/deliveries",
    id: "listWebhookDeliveries",
    summary: "The delivery log of a webhook, newest first",
    description: "Deliveries are kept for 30 days.",
    params: webhookParams,
    query: Type.Object({ ...pageQuery, status: Type.Optional(deliverySchema.properties.status) }),
    responses: { 200: { description: "A page", schema: pageSchema(deliverySchema) } },
    resolve: ({ principal, params }) => requireWebhook(options, principal, params),
    async handle({ query }, webhook: WebhookRecord) {
      const { cursorKey, deliveries } = options;
      const list = `deliveries\u0000${webhook.id}`;
      const page = toPageRequest(cursorKey, list, query);
      const found = await deliveries.list(webhook.id, query.status, page);
      const present = (delivery: DeliveryRecord) => presentDelivery(webhook, delivery);
      return { status: 200, body: toPageBody(cursorKey, list, found, present) };
    },
  });
}

interface NamedDelivery {
  webhook: WebhookRecord;
  delivery: DeliveryRecord;
}

function retryDelivery(options: WebhookDeliveryOptions): Route {
  return defineRoute({
    ...WEBHOOK_CALLERS,
    method: "post",
    path: "/workspaces/{id}/webhooks/{webhook_id}/deliveries/{delivery_id}/retry",
    id: "retryWebhookDelivery",
    summary: "Send a message again, now, under the same `webhook-id`",
    description:
      "Whether it had arrived, failed or still waited. 409 while the webhook is switched off.",
    params: Type.Object({ ...webhookParams.properties, delivery_id: Type.String() }),
    responses: {
      200: {
        description: "The delivery, pending again",
        schema: deliverySchema,
        example: {
          status: "pending",
          attempt_count: 0,
          next_attempt_at: "2026-01-31T09:31:10.000Z",
        },
      },
    },
    errors: ["conflict"],
    async resolve({ principal, params }): Promise<NamedDelivery> {
      const webhook = await requireWebhook(options, principal, params);
      const { delivery_id: id } = params;
      const delivery = isId(id) ? await options.deliveries.find(webhook.id, id) : undefined;
      return { webhook, delivery: existingDelivery(delivery) };
    },
    async handle(_request, { webhook, delivery }: NamedDelivery) {
      assertEnabled(webhook);
      const again = await options.deliveries.retry(webhook.id, delivery.id);
      return { status: 200, body: presentDelivery(webhook, existingDelivery(again)) };
    },
  });
}

const REPLAYED_AT_ONCE = 10_000;

function replayDeliveries(options: WebhookDeliveryOptions): Route {
  return defineRoute({
    ...WEBHOOK_CALLERS,
    method: "post",
    path: "/workspaces/{id}/webhooks/{webhook_id}/replay",
    id: "replayWebhook",
    summary: "Send the messages of a span again",
    description: `Those that arrived or were given up, oldest first, each under its \`webhook-id\`: for a receiver that has lost some. At most ${REPLAYED_AT_ONCE} at once; \`next_from\` says from when on there may be more. Messages are kept for 30 days. 409 while the webhook is switched off.`,
    params: webhookParams,
    body: {
      kind: "json",
      // A misspelt `to` would send everything up to now.
      closed: true,
      schema: Type.Object({
        from: Type.String({
          format: "date-time",
          description: "What happened at or after it",
          examples: ["2026-01-31T09:30:00.000Z"],
        }),
        to: Type.Optional(
          Type.String({
            format: "date-time",
            description: "And before it; now by default",
            examples: ["2026-01-31T10:30:00.000Z"],
          }),
        ),
      }),
    },
    responses: {
      200: {
        description: "They are pending again",
        schema: Type.Object(
          {
            replayed: Type.Integer({ description: "How many are sent again", examples: [12] }),
            next_from: Type.Optional(
              Type.String({
                format: "date-time",
                description: "Where to go on; absent at the end",
              }),
            ),
          },
          { $id: "Replay" },
        ),
      },
    },
    errors: ["conflict"],
    resolve: ({ principal, params }) => requireWebhook(options, principal, params),
    async handle({ body }, webhook: WebhookRecord) {
      assertEnabled(webhook);
      const to = body.to === undefined ? options.clock.now() : Date.parse(body.to);
      const span = { from: Date.parse(body.from), to };
      const { count, next } = await options.deliveries.replay(webhook.id, span, REPLAYED_AT_ONCE);
      return {
        status: 200,
        body: { replayed: count, ...(next !== undefined && { next_from: toTimestamp(next) }) },
      };
    },
  });
}

function existingDelivery(found: DeliveryRecord | undefined): DeliveryRecord {
  if (found === undefined) throw new AppError("not_found", "There is no delivery with this id.");
  return found;
}
