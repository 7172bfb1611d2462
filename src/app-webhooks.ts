import type { ApiPorts } from "./api/routes.ts";
import type { AppContext } from "./app-shared.ts";
import { WebhookSecrets } from "./auth/webhook-secrets.ts";
import { AddressGuard } from "./jobs/address-guard.ts";
import { WebhookSender } from "./jobs/webhook-sender.ts";
import { WebhookDeliveryStore } from "./store/webhook-deliveries.ts";
import { PostgresDeliveryQueue } from "./store/webhook-queue.ts";
import { WebhookStore } from "./store/webhooks.ts";
import type { WorkspaceStore } from "./store/workspaces.ts";

/** What the routes of webhooks need. */
export function createWebhookPorts(
  { config, clock, shared }: AppContext,
  workspaces: WorkspaceStore,
): ApiPorts["webhooks"] {
  return {
    workspaces,
    webhooks: new WebhookStore(shared.pool),
    deliveries: new WebhookDeliveryStore(shared.pool),
    endpoints: new AddressGuard({ allowPrivate: config.webhookAllowPrivate }),
    secrets: new WebhookSecrets(shared.keys.webhookKey),
    clock,
    cursorKey: shared.keys.cursorKey,
  };
}

/** The part of the sessions role that sends webhooks. */
export function startWebhooks(context: AppContext): WebhookSender {
  const { config, log, stack, shared, queues } = context;
  const sender = new WebhookSender({
    queue: new PostgresDeliveryQueue(shared.pool, shared.work),
    secrets: new WebhookSecrets(shared.keys.webhookKey),
    guard: new AddressGuard({ allowPrivate: config.webhookAllowPrivate }),
    runtime: shared.background,
    log,
    parallel: 16,
    every: 1_000,
    timeout: 15_000,
    lease: 30_000,
    grace: 1_500,
  });
  queues.add(sender);
  sender.start();
  stack.push("webhook sender", () => sender.stop());
  return sender;
}
