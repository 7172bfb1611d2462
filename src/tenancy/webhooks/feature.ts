import type { TenancyContext } from "../context.ts";
import type { GrantingOptions } from "../workspaces/members-routes.ts";
import type { AddressGuard } from "./address-guard.ts";
import { webhookDeliveryRoutes } from "./delivery-routes.ts";
import { webhookRoutes } from "./routes.ts";
import type { WebhookSecrets } from "./secrets.ts";
import { DeliveryStore, WebhookStore } from "./store.ts";

interface CreateWebhookOptions extends GrantingOptions {
  endpoints: AddressGuard;
  secrets: WebhookSecrets;
}

/** Where workspaces are told of what happens, and how that went. */
export function createWebhooks(
  { pool, clock, cursorKey, ceilings }: TenancyContext,
  { workspaces, elevations, endpoints, secrets }: CreateWebhookOptions,
) {
  const webhooks = new WebhookStore(pool, ceilings);
  const deliveries = new DeliveryStore(pool);
  const shared = { workspaces, elevations, webhooks, secrets, cursorKey };
  return {
    routes: [
      ...webhookRoutes({ ...shared, endpoints }),
      ...webhookDeliveryRoutes({ ...shared, deliveries, clock }),
    ],
  };
}
