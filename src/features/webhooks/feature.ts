import type { FeatureContext } from "../context.ts";
import type { WorkspaceStore } from "../workspaces/store.ts";
import type { AddressGuard } from "./address-guard.ts";
import { webhookDeliveryRoutes } from "./delivery-routes.ts";
import { webhookRoutes } from "./routes.ts";
import type { WebhookSecrets } from "./secrets.ts";
import { DeliveryStore, WebhookStore } from "./store.ts";

interface CreateWebhookOptions {
  workspaces: Pick<WorkspaceStore, "find" | "role">;
  endpoints: AddressGuard;
  secrets: WebhookSecrets;
}

/** Where workspaces are told of what happens, and how that went. */
export function createWebhooks(
  { pool, clock, cursorKey }: FeatureContext,
  { workspaces, endpoints, secrets }: CreateWebhookOptions,
) {
  const webhooks = new WebhookStore(pool);
  const deliveries = new DeliveryStore(pool);
  return {
    routes: [
      ...webhookRoutes({ workspaces, webhooks, endpoints, secrets, cursorKey }),
      ...webhookDeliveryRoutes({ workspaces, webhooks, deliveries, secrets, clock, cursorKey }),
    ],
  };
}
