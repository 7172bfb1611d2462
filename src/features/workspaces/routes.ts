import { type Static, Type } from "@sinclair/typebox";
import { actorOf } from "../../access/audit-entry.ts";
import { GUEST_ACCESS, mayWorkspace, type WorkspaceAction } from "../../access/policy.ts";
import type { Principal, ServicePrincipal } from "../../access/principal.ts";
import type { RevocationFeed } from "../../access/revocations.ts";
import { toTimestamp } from "../../base/clock.ts";
import { AppError, unknownThing } from "../../base/errors.ts";
import { isId, newId } from "../../base/ids.ts";
import type { WorkspaceUse } from "../../postgres/ceilings.ts";
import { requirePrincipal, requireUser } from "../../rest/callers.ts";
import { pageQuery, pageSchema, toPageBody, toPageRequest } from "../../rest/page.ts";
import { expectedUpdate, staleEdit } from "../../rest/representations.ts";
import {
  acknowledge,
  acknowledgementSchema,
  defineRoute,
  PEOPLE,
  type Reply,
  type Route,
} from "../../rest/route.ts";
import { nameSchema } from "../../wire/names.ts";
import type {
  WorkspaceChange,
  WorkspaceEditStore,
  WorkspaceRecord,
  WorkspaceStore,
} from "./store.ts";

/**
 * Returns the workspace if the caller may do this to it. Throws 404 for an unknown one, 403 when
 * the caller has no such right, or needs an elevation for it and `elevated` is false.
 */
export async function requireWorkspace(
  workspaces: Pick<WorkspaceStore, "find" | "role">,
  principal: Principal | undefined,
  id: string,
  action: WorkspaceAction,
  elevated = false,
): Promise<WorkspaceRecord> {
  const caller = requirePrincipal(principal);
  const workspace = isId(id) ? await workspaces.find(id) : undefined;
  if (workspace === undefined) throw unknownThing("workspace", id);
  const role = await workspaces.role(id, caller.id);
  const verdict = mayWorkspace(caller, action, { kind: "workspace", id, role, elevated });
  if (verdict === "allow") return workspace;
  if (verdict === "elevation_required") {
    throw new AppError(
      "elevation_required",
      "Administrators without a role in this workspace need an elevation for this. Ask for one with a reason at POST /api/admin/content-elevate.",
    );
  }
  if (verdict === "not_found") throw unknownThing("workspace", id);
  if (caller.kind === "service") {
    throw new AppError("forbidden", "The key's scopes do not allow this.");
  }
  throw new AppError(
    "forbidden",
    role === undefined
      ? "You do not belong to this workspace."
      : "Only an owner of the workspace may do this.",
  );
}

const DEFAULT_LANGUAGE = "en";

interface WorkspaceOptions {
  workspaces: WorkspaceStore;
  cursorKey: Uint8Array;
}

/** POST /workspaces, GET /workspaces, GET /workspaces/{id}. */
export function workspaceRoutes(options: WorkspaceOptions): Route[] {
  return [createWorkspace(options), listWorkspaces(options), getWorkspace(options)];
}

const workspaceType = Type.Union([Type.Literal("private"), Type.Literal("team")]);

const guestAccess = Type.Union(GUEST_ACCESS.map((each) => Type.Literal(each)));

const useSchema = Type.Object({
  used: Type.Integer(),
  most: Type.Optional(Type.Integer({ description: "Absent: any number" })),
});

const usageSchema = Type.Object(
  {
    devices: useSchema,
    api_keys: useSchema,
    webhooks: useSchema,
    recordings: useSchema,
    stored_bytes: useSchema,
  },
  {
    description:
      "For who may change the workspace, where it is shown alone: what there is and may be of paired devices, service keys, webhooks, sessions that record now, and bytes of audio. What would be more is refused with 403 `quota_exceeded` when it begins",
  },
);

const workspaceSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  workspace_type: workspaceType,
  preferred_language: Type.String(),
  retention_days: Type.Optional(
    Type.Integer({ description: "Absent: words and audio stay until somebody deletes them" }),
  ),
  default_guest_access: Type.Optional(
    Type.Unsafe<Static<typeof guestAccess>>({
      ...guestAccess,
      description:
        "How guests get into its sessions that do not say so themselves; absent: as the installation says",
    }),
  ),
  usage: Type.Optional(usageSchema),
  created_at: Type.String(),
  updated_at: Type.String(),
});

const workspaceScope = Type.Union([Type.Literal("member"), Type.Literal("all")], {
  default: "member",
  description: "`all`: those of others too, for administrators only (403 for everybody else)",
});

function presentUse({ storedBytes, keys, ...use }: WorkspaceUse): Static<typeof usageSchema> {
  return { ...use, api_keys: keys, stored_bytes: storedBytes };
}

/** The workspace, with its usage for who may change it. */
async function presentManaged(
  workspaces: Pick<WorkspaceStore, "role" | "use">,
  caller: Principal,
  workspace: WorkspaceRecord,
): Promise<Static<typeof workspaceSchema>> {
  const { id } = workspace;
  const role = await workspaces.role(id, caller.id);
  const facts = { kind: "workspace", id, role, elevated: false } as const;
  const shown = presentWorkspace(workspace);
  if (mayWorkspace(caller, "workspace.edit", facts) !== "allow") return shown;
  return { ...shown, usage: presentUse(await workspaces.use(id)) };
}

function presentWorkspace(workspace: WorkspaceRecord): Static<typeof workspaceSchema> {
  return {
    id: workspace.id,
    name: workspace.name,
    workspace_type: workspace.workspaceType,
    preferred_language: workspace.preferredLanguage,
    retention_days: workspace.retentionDays,
    default_guest_access: workspace.defaultGuestAccess,
    created_at: toTimestamp(workspace.createdAt),
    updated_at: toTimestamp(workspace.updatedAt),
  };
}

function createWorkspace({ workspaces }: WorkspaceOptions): Route {
  return defineRoute({
    method: "post",
    path: "/workspaces",
    id: "createWorkspace",
    tag: "Workspace",
    summary: "Create a workspace; the caller becomes its owner",
    auth: ["bearer"],
    roles: PEOPLE,
    body: {
      kind: "json",
      schema: Type.Object({
        name: nameSchema({ minLength: 1, maxLength: 200 }),
        preferred_language: Type.Optional(
          Type.String({ maxLength: 35, description: "BCP 47 tag", default: DEFAULT_LANGUAGE }),
        ),
      }),
    },
    responses: { 201: { description: "The workspace", schema: workspaceSchema } },
    errors: ["quota_exceeded"],
    async handle({ principal, body }) {
      const owner = requireUser(principal);
      const workspace = await workspaces.insert({
        id: newId(),
        name: body.name,
        preferredLanguage: canonicalLanguage(body.preferred_language ?? DEFAULT_LANGUAGE),
        ownerId: owner.id,
      });
      return { status: 201, body: presentWorkspace(workspace) };
    },
  });
}

/** A BCP 47 tag in its canonical spelling, for example `pt-BR`. */
function canonicalLanguage(tag: string): string {
  try {
    const [canonical] = Intl.getCanonicalLocales(tag);
    if (canonical !== undefined) return canonical;
  } catch {
    // The error is thrown below, with our message.
  }
  throw new AppError(
    "invalid_body",
    '`preferred_language` must be a BCP 47 language tag, for example "en" or "pt-BR".',
  );
}

function listWorkspaces({ workspaces, cursorKey }: WorkspaceOptions): Route {
  return defineRoute({
    method: "get",
    path: "/workspaces",
    id: "listWorkspaces",
    tag: "Workspace",
    summary: "Workspaces that the caller belongs to, newest first; its own for a service key",
    description:
      "An administrator, who may manage every workspace, sees those of others only with `scope=all`.",
    auth: ["bearer", "service_key"],
    roles: PEOPLE,
    query: Type.Object({ ...pageQuery, scope: Type.Optional(workspaceScope) }),
    responses: { 200: { description: "A page", schema: pageSchema(workspaceSchema) } },
    async handle({ principal, query }) {
      const isForAll = query.scope === "all";
      if (isForAll) requireAdmin(principal);
      if (principal?.kind === "service") return ownWorkspace(workspaces, principal);
      const caller = requireUser(principal);
      const page = toPageRequest(cursorKey, "workspaces", query);
      const memberId = isForAll ? undefined : caller.id;
      const found = await workspaces.list(memberId, page);
      return { status: 200, body: toPageBody(cursorKey, "workspaces", found, presentWorkspace) };
    },
  });
}

function requireAdmin(principal: Principal | undefined): void {
  if (principal?.kind === "user" && principal.role === "admin") return;
  throw new AppError("forbidden", "Only administrators see the workspaces of others.");
}

/** The workspace of a service key: each key has exactly one. */
async function ownWorkspace(
  workspaces: WorkspaceStore,
  principal: ServicePrincipal,
): Promise<Reply> {
  const { workspaceId } = principal;
  const own = await requireWorkspace(workspaces, principal, workspaceId, "workspace.read");
  return { status: 200, body: { items: [presentWorkspace(own)], next_cursor: null } };
}

function getWorkspace({ workspaces }: WorkspaceOptions): Route {
  return defineRoute({
    method: "get",
    path: "/workspaces/{id}",
    id: "getWorkspace",
    tag: "Workspace",
    summary: "One workspace",
    auth: ["bearer", "service_key"],
    roles: PEOPLE,
    params: Type.Object({ id: Type.String() }),
    volatile: ["usage"],
    responses: { 200: { description: "The workspace", schema: workspaceSchema } },
    resolve: ({ principal, params }) =>
      requireWorkspace(workspaces, principal, params.id, "workspace.read"),
    async handle({ principal }, workspace: WorkspaceRecord) {
      const caller = requirePrincipal(principal);
      return { status: 200, body: await presentManaged(workspaces, caller, workspace) };
    },
  });
}

interface WorkspaceEditOptions {
  workspaces: Pick<WorkspaceStore, "find" | "role" | "use">;
  workspaceEdits: WorkspaceEditStore;
  revocations: Pick<RevocationFeed, "publish">;
}

const workspaceParams = Type.Object({ id: Type.String() });

/** PATCH and DELETE /workspaces/{id}. */
export function workspaceEditRoutes(options: WorkspaceEditOptions): Route[] {
  return [editWorkspace(options), removeWorkspace(options)];
}

const changeBody = Type.Object({
  name: Type.Optional(nameSchema({ minLength: 1, maxLength: 200 })),
  preferred_language: Type.Optional(Type.String({ maxLength: 35, description: "BCP 47 tag" })),
  workspace_type: Type.Optional(workspaceType),
  retention_days: Type.Optional(
    Type.Union([Type.Integer({ minimum: 1, maximum: 3_650 }), Type.Null()], {
      description:
        "Days after which the words and audio of a session are deleted; null keeps them until somebody deletes them",
    }),
  ),
  default_guest_access: Type.Optional(
    Type.Union([guestAccess, Type.Null()], {
      description:
        "For its sessions that do not say so themselves; null: as the installation says. Guests of theirs whom it would not have let in are ended",
    }),
  ),
});

function editWorkspace({ workspaces, workspaceEdits }: WorkspaceEditOptions): Route {
  return defineRoute({
    method: "patch",
    path: "/workspaces/{id}",
    id: "editWorkspace",
    tag: "Workspace",
    summary: "Change a workspace's name, language, type, retention or guest access",
    description: "By an owner of it or an administrator. Members that are left out stay.",
    auth: ["bearer"],
    roles: PEOPLE,
    params: workspaceParams,
    body: { kind: "json", schema: changeBody },
    responses: { 200: { description: "The workspace as it stands", schema: workspaceSchema } },
    resolve: ({ principal, params }) =>
      requireWorkspace(workspaces, principal, params.id, "workspace.edit"),
    async handle(request, { id }: WorkspaceRecord) {
      const { principal, body } = request;
      const language = body.preferred_language;
      const change: WorkspaceChange = {
        name: body.name,
        preferredLanguage: language === undefined ? undefined : canonicalLanguage(language),
        workspaceType: body.workspace_type,
        retentionDays: body.retention_days,
        defaultGuestAccess: body.default_guest_access,
      };
      if (Object.values(change).every((value) => value === undefined)) {
        throw new AppError(
          "invalid_body",
          "Send `name`, `preferred_language`, `workspace_type`, `retention_days` or `default_guest_access`.",
        );
      }
      const since = expectedUpdate(request);
      const caller = requireUser(principal);
      const changed = await workspaceEdits.change(id, change, actorOf(caller), since);
      if (changed === undefined) {
        if (since !== undefined) throw staleEdit();
        throw new AppError("not_found", "There is no workspace with this id.");
      }
      return { status: 200, body: await presentManaged(workspaces, caller, changed) };
    },
  });
}

function removeWorkspace(options: WorkspaceEditOptions): Route {
  const { workspaces, workspaceEdits, revocations } = options;
  return defineRoute({
    method: "delete",
    path: "/workspaces/{id}",
    id: "removeWorkspace",
    tag: "Workspace",
    summary: "Delete a workspace that has no sessions left",
    description:
      "By an owner of it or an administrator. Its sessions are deleted first, each with a receipt. Its devices are unpaired, and its members, workshops and webhooks go.",
    auth: ["bearer"],
    roles: PEOPLE,
    params: workspaceParams,
    responses: { 200: { description: "Deleted", schema: acknowledgementSchema } },
    errors: ["conflict"],
    resolve: ({ principal, params }) =>
      requireWorkspace(workspaces, principal, params.id, "workspace.edit"),
    async handle({ principal }, { id: workspaceId }: WorkspaceRecord) {
      const by = actorOf(requireUser(principal));
      const { memberIds, deviceIds } = await workspaceEdits.remove(workspaceId, by);
      for (const deviceId of deviceIds) revocations.publish({ kind: "device", deviceId });
      for (const userId of memberIds) {
        revocations.publish({ kind: "workspace_member", workspaceId, userId });
      }
      return acknowledge("The workspace was deleted.");
    },
  });
}
