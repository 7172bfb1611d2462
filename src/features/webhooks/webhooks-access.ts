import { Type } from "@sinclair/typebox";
import { type AuditActor, actorOf } from "../../access/audit-trail.ts";
import type { Principal } from "../../access/principal.ts";
import { AppError } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import { requirePrincipal } from "../../rest/callers.ts";
import { PEOPLE, type Route } from "../../rest/route.ts";
import { requireWorkspace } from "../workspaces/workspaces-access.ts";
import type { WorkspaceDirectory, WorkspaceRecord } from "../workspaces/workspaces-directory.ts";
import type { WebhookDirectory, WebhookRecord } from "./webhooks-directory.ts";

export interface WebhookAccessPorts {
  workspaces: Pick<WorkspaceDirectory, "find" | "role">;
  webhooks: WebhookDirectory;
}

/** Who may call any route of webhooks, before the relation to the workspace is looked at. */
export const WEBHOOK_CALLERS: Pick<Route, "tag" | "auth" | "roles"> = {
  tag: "Workspace",
  auth: ["bearer", "service_key"],
  roles: PEOPLE,
};

export const workspaceParams = Type.Object({ id: Type.String() });
export const webhookParams = Type.Object({ id: Type.String(), webhook_id: Type.String() });

/** The workspace, when the caller manages its webhooks. */
export function requireWebhooks(
  { workspaces }: WebhookAccessPorts,
  principal: Principal | undefined,
  workspaceId: string,
): Promise<WorkspaceRecord> {
  return requireWorkspace(workspaces, principal, workspaceId, "workspace.webhooks");
}

/** One of the workspace's webhooks: 404 for an unknown one, after the workspace's own checks. */
export async function requireWebhook(
  ports: WebhookAccessPorts,
  principal: Principal | undefined,
  params: { id: string; webhook_id: string },
): Promise<WebhookRecord> {
  const workspace = await requireWebhooks(ports, principal, params.id);
  const webhook = isId(params.webhook_id)
    ? await ports.webhooks.find(workspace.id, params.webhook_id)
    : undefined;
  return existing(webhook);
}

/** The webhook, or 404: it may have been deleted since it was looked up. */
export function existing<T>(found: T | undefined): T {
  if (found === undefined) throw new AppError("not_found", "There is no webhook with this id.");
  return found;
}

/** The caller as an actor of the audit log. */
export function actorOfCaller(principal: Principal | undefined): AuditActor {
  return actorOf(requirePrincipal(principal));
}
