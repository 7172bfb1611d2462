import { Type } from "@sinclair/typebox";
import { type AuditActor, actorOf } from "../../access/audit-entry.ts";
import { elevationDetail } from "../../access/elevation.ts";
import type { Principal } from "../../access/principal.ts";
import { AppError } from "../../base/errors.ts";
import { isId, newId } from "../../base/ids.ts";
import { requirePrincipal, requireUser } from "../../rest/callers.ts";
import { pageQuery, pageSchema, toPageBody, toPageRequest } from "../../rest/page.ts";
import { expectedOf, staleEdit } from "../../rest/representations.ts";
import {
  acknowledge,
  acknowledged,
  defineRoute,
  HUMAN_ROLES,
  type Route,
} from "../../rest/route.ts";
import { nameSchema } from "../../wire/names.ts";
import {
  type Granting,
  type GrantingOptions,
  requireGranting,
} from "../workspaces/members-routes.ts";
import { requireWorkspace } from "../workspaces/routes.ts";
import type { WorkspaceRecord, WorkspaceStore } from "../workspaces/store.ts";
import type { AddressGuard } from "./address-guard.ts";
import {
  presentWebhook,
  webhookEventTypes,
  webhookSchema,
  webhookSecretSchema,
  webhookTags,
} from "./schema.ts";
import type { WebhookSecrets } from "./secrets.ts";
import type { WebhookRecord, WebhookStore } from "./store.ts";

const DELETED = "The webhook was deleted.";

export interface WebhookAccessOptions {
  workspaces: Pick<WorkspaceStore, "find" | "role">;
  webhooks: WebhookStore;
}

/** Callers that may use webhook routes, before their relation to the workspace is checked. */
export const WEBHOOK_CALLERS: Pick<Route, "tag" | "auth" | "roles"> = {
  tag: "Workspace",
  auth: ["bearer", "service_key"],
  roles: HUMAN_ROLES,
};

const workspaceParams = Type.Object({ id: Type.String() });
export const webhookParams = Type.Object({ id: Type.String(), webhook_id: Type.String() });

/** Returns the workspace if the caller may manage its webhooks. */
function requireWebhooks(
  { workspaces }: WebhookAccessOptions,
  principal: Principal | undefined,
  workspaceId: string,
): Promise<WorkspaceRecord> {
  return requireWorkspace(workspaces, principal, workspaceId, "workspace.webhooks");
}

/**
 * Returns one of the workspace's webhooks, after the workspace's own checks. Throws 404 for an
 * unknown one.
 */
export async function requireWebhook(
  options: WebhookAccessOptions,
  principal: Principal | undefined,
  params: { id: string; webhook_id: string },
): Promise<WebhookRecord> {
  const workspace = await requireWebhooks(options, principal, params.id);
  const webhook = isId(params.webhook_id)
    ? await options.webhooks.find(workspace.id, params.webhook_id)
    : undefined;
  return existing(webhook);
}

/** Returns the webhook, or throws 404: it may have been deleted since it was looked up. */
export function existing<T>(found: T | undefined): T {
  if (found === undefined) throw new AppError("not_found", "There is no webhook with this id.");
  return found;
}

/** The caller as an actor of the audit log. */
export function actorOfCaller(principal: Principal | undefined): AuditActor {
  return actorOf(requirePrincipal(principal));
}

interface WebhookOptions extends WebhookAccessOptions, GrantingOptions {
  workspaces: GrantingOptions["workspaces"];
  endpoints: AddressGuard;
  secrets: Pick<WebhookSecrets, "create">;
  cursorKey: Uint8Array;
}

/** GET and POST /workspaces/{id}/webhooks; GET, PATCH and DELETE of one, POST adopt. */
export function webhookRoutes(options: WebhookOptions): Route[] {
  return [
    listWebhooks(options),
    createWebhook(options),
    getWebhook(options),
    changeWebhook(options),
    deleteWebhook(options),
    adoptWebhook(options),
  ];
}

const url = Type.String({
  minLength: 1,
  maxLength: 2_048,
  description: "Where messages are POSTed to: https, at a public address",
  examples: ["https://example.com/hooks/voice"],
});
const description = nameSchema({
  maxLength: 500,
  description: "A note for people",
  examples: ["Feeds the archive."],
});

function listWebhooks(options: WebhookOptions): Route {
  return defineRoute({
    ...WEBHOOK_CALLERS,
    method: "get",
    path: "/workspaces/{id}/webhooks",
    id: "listWebhooks",
    summary: "The webhooks of a workspace, newest first",
    params: workspaceParams,
    query: Type.Object(pageQuery),
    responses: { 200: { description: "A page", schema: pageSchema(webhookSchema) } },
    resolve: ({ principal, params }) => requireWebhooks(options, principal, params.id),
    async handle({ query }, workspace: WorkspaceRecord) {
      const { cursorKey, webhooks } = options;
      const list = `webhooks\u0000${workspace.id}`;
      const found = await webhooks.list(workspace.id, toPageRequest(cursorKey, list, query));
      return { status: 200, body: toPageBody(cursorKey, list, found, presentWebhook) };
    },
  });
}

function createWebhook(options: WebhookOptions): Route {
  return defineRoute({
    ...WEBHOOK_CALLERS,
    method: "post",
    path: "/workspaces/{id}/webhooks",
    id: "createWebhook",
    summary: "Have a URL told of what happens in a workspace's sessions",
    description: [
      "Messages follow Standard Webhooks: `POST` of `{type, timestamp, data}` with the headers",
      "`webhook-id`, `webhook-timestamp` and `webhook-signature`, signed with the secret that this",
      "answer shows once. They carry ids and states, never words; `seq` is the place in the session's",
      "journal. Anything but a 2xx within 15 s, redirects included, counts as a failure and is tried",
      "again with growing waits for up to 3 days; a message may come more than once, always under its",
      "`webhook-id`. 410 switches the webhook off, and so do 5 days in which nothing arrived.",
    ].join(" "),
    params: workspaceParams,
    body: {
      kind: "json",
      closed: true,
      schema: Type.Object({
        url,
        description: Type.Optional(description),
        event_types: Type.Optional(webhookEventTypes),
        tags: Type.Optional(webhookTags),
        enabled: Type.Optional(Type.Boolean({ default: true })),
      }),
    },
    responses: { 201: { description: "The webhook and its secret", schema: webhookSecretSchema } },
    errors: ["quota_exceeded"],
    resolve: ({ principal, params }) => requireWebhooks(options, principal, params.id),
    async handle({ principal, body }, workspace: WorkspaceRecord) {
      await assertSendable(options.endpoints, body.url);
      const id = newId();
      const { secret, encrypted } = options.secrets.create(id);
      const webhook = await options.webhooks.insert(
        {
          id,
          workspaceId: workspace.id,
          url: body.url,
          description: body.description ?? "",
          eventTypes: [...new Set(body.event_types)],
          tags: [...new Set(body.tags)],
          enabled: body.enabled ?? true,
          encryptedSecret: encrypted,
        },
        actorOfCaller(principal),
      );
      return {
        status: 201,
        body: { ...presentWebhook(webhook), secret },
        headers: { "cache-control": "no-store" },
      };
    },
  });
}

async function assertSendable(endpoints: AddressGuard, target: string): Promise<void> {
  const refusal = await endpoints.refusal(target);
  if (refusal !== undefined) throw new AppError("invalid_body", refusal);
}

function getWebhook(options: WebhookOptions): Route {
  return defineRoute({
    ...WEBHOOK_CALLERS,
    method: "get",
    path: "/workspaces/{id}/webhooks/{webhook_id}",
    id: "getWebhook",
    summary: "One webhook",
    params: webhookParams,
    volatile: ["consecutive_failures", "failing_since", "previous_secret_expires_at"],
    responses: { 200: { description: "The webhook", schema: webhookSchema } },
    resolve: ({ principal, params }) => requireWebhook(options, principal, params),
    async handle(_request, webhook: WebhookRecord) {
      return { status: 200, body: presentWebhook(webhook) };
    },
  });
}

function changeWebhook(options: WebhookOptions): Route {
  return defineRoute({
    ...WEBHOOK_CALLERS,
    method: "patch",
    path: "/workspaces/{id}/webhooks/{webhook_id}",
    id: "changeWebhook",
    summary: "Change a webhook, or switch it on or off",
    description:
      "Switching it off ends what waits for it, and what happens meanwhile is not sent later. Switching it on, or another URL, forgets earlier failures. Whoever names another URL is its maker from then on.",
    params: webhookParams,
    body: {
      kind: "json",
      closed: true,
      schema: Type.Object({
        url: Type.Optional(url),
        description: Type.Optional(description),
        event_types: Type.Optional(webhookEventTypes),
        tags: Type.Optional(webhookTags),
        enabled: Type.Optional(Type.Boolean()),
      }),
    },
    responses: { 200: { description: "The webhook as it is now", schema: webhookSchema } },
    resolve: ({ principal, params }) => requireWebhook(options, principal, params),
    async handle(request, webhook: WebhookRecord) {
      const { principal, body } = request;
      if (body.url !== undefined) await assertSendable(options.endpoints, body.url);
      const { url: target, description: text, event_types: types, tags, enabled } = body;
      const eventTypes = types === undefined ? undefined : [...new Set(types)];
      const change = {
        ...{ url: target, description: text, eventTypes, enabled },
        tags: tags && [...new Set(tags)],
      };
      const by = actorOfCaller(principal);
      const expected = expectedOf(request, webhookSchema)?.updated_at;
      const changed = await options.webhooks.change(webhook.id, change, by, expected);
      if (changed === undefined && expected !== undefined) throw staleEdit();
      return { status: 200, body: presentWebhook(existing(changed)) };
    },
  });
}

function deleteWebhook(options: WebhookOptions): Route {
  return defineRoute({
    ...WEBHOOK_CALLERS,
    method: "delete",
    path: "/workspaces/{id}/webhooks/{webhook_id}",
    id: "deleteWebhook",
    summary: "Delete a webhook with its delivery log",
    params: webhookParams,
    responses: { 200: acknowledged(DELETED) },
    resolve: ({ principal, params }) => requireWebhook(options, principal, params),
    async handle({ principal }, webhook: WebhookRecord) {
      await options.webhooks.remove(webhook.id, actorOfCaller(principal));
      return acknowledge(DELETED);
    },
  });
}

interface Adoption {
  webhook: WebhookRecord;
  granting: Granting;
}

function adoptWebhook(options: WebhookOptions): Route {
  return defineRoute({
    ...WEBHOOK_CALLERS,
    auth: ["bearer"],
    method: "post",
    path: "/workspaces/{id}/webhooks/{webhook_id}/adopt",
    id: "adoptWebhook",
    summary: "Take a webhook over, so that it is sent by one's own right",
    description:
      "By an owner of the workspace, or by an administrator under an elevation that covers it. What waits while it is suspended is sent then, if its 3 days are not over.",
    params: webhookParams,
    responses: { 200: { description: "The webhook", schema: webhookSchema } },
    errors: ["elevation_required"],
    async resolve({ principal, params }): Promise<Adoption> {
      const granting = await requireGranting(options, principal, params.id);
      return { granting, webhook: await requireWebhook(options, principal, params) };
    },
    async handle({ principal }, { webhook, granting }: Adoption) {
      const { id: userId } = requireUser(principal);
      const detail = elevationDetail(granting.elevation);
      const adopted = existing(await options.webhooks.adopt(webhook.id, userId, detail));
      return { status: 200, body: presentWebhook(adopted) };
    },
  });
}
