import { type Static, Type } from "@sinclair/typebox";
import type { Principal, ServicePrincipal } from "../../access/principal.ts";
import { toTimestamp } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import { requireUser } from "../../rest/callers.ts";
import { pageQuery, pageSchema, toPageBody, toPageRequest } from "../../rest/page.ts";
import { defineRoute, PEOPLE, type Reply, type Route } from "../../rest/route.ts";
import { requireWorkspace } from "./workspaces-access.ts";
import type { WorkspaceDirectory, WorkspaceRecord } from "./workspaces-directory.ts";

const DEFAULT_LANGUAGE = "en";

export interface WorkspacePorts {
  workspaces: WorkspaceDirectory;
  cursorKey: Uint8Array;
}

/** POST /workspaces, GET /workspaces, GET /workspaces/{id}. */
export function workspaceRoutes(ports: WorkspacePorts): Route[] {
  return [createWorkspace(ports), listWorkspaces(ports), getWorkspace(ports)];
}

export const workspaceType = Type.Union([Type.Literal("private"), Type.Literal("team")]);

export const workspaceSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  workspace_type: workspaceType,
  preferred_language: Type.String(),
  retention_days: Type.Optional(
    Type.Integer({ description: "Absent: words and audio stay until somebody deletes them" }),
  ),
  created_at: Type.String(),
  updated_at: Type.String(),
});

const workspaceScope = Type.Union([Type.Literal("member"), Type.Literal("all")], {
  default: "member",
  description: "`all`: those of others too, for administrators only (403 for everybody else)",
});

export function presentWorkspace(workspace: WorkspaceRecord): Static<typeof workspaceSchema> {
  return {
    id: workspace.id,
    name: workspace.name,
    workspace_type: workspace.workspaceType,
    preferred_language: workspace.preferredLanguage,
    retention_days: workspace.retentionDays,
    created_at: toTimestamp(workspace.createdAt),
    updated_at: toTimestamp(workspace.updatedAt),
  };
}

function createWorkspace({ workspaces }: WorkspacePorts): Route {
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
        name: Type.String({ minLength: 1, maxLength: 200, pattern: "\\S" }),
        preferred_language: Type.Optional(
          Type.String({ maxLength: 35, description: "BCP 47 tag", default: DEFAULT_LANGUAGE }),
        ),
      }),
    },
    responses: { 201: { description: "The workspace", schema: workspaceSchema } },
    async handle({ principal, body }) {
      const owner = requireUser(principal);
      const workspace = await workspaces.insert({
        id: newId(),
        name: body.name.trim(),
        preferredLanguage: canonicalLanguage(body.preferred_language ?? DEFAULT_LANGUAGE),
        ownerId: owner.id,
      });
      return { status: 201, body: presentWorkspace(workspace) };
    },
  });
}

/** A BCP 47 tag in its usual spelling, for example `pt-BR`. */
export function canonicalLanguage(tag: string): string {
  try {
    const [canonical] = Intl.getCanonicalLocales(tag);
    if (canonical !== undefined) return canonical;
  } catch {
    // Said below, in our words.
  }
  throw new AppError(
    "invalid_body",
    '`preferred_language` must be a BCP 47 language tag, for example "en" or "pt-BR".',
  );
}

function listWorkspaces({ workspaces, cursorKey }: WorkspacePorts): Route {
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

/** A service key has one workspace. */
async function ownWorkspace(
  workspaces: WorkspaceDirectory,
  principal: ServicePrincipal,
): Promise<Reply> {
  const { workspaceId } = principal;
  const own = await requireWorkspace(workspaces, principal, workspaceId, "workspace.read");
  return { status: 200, body: { items: [presentWorkspace(own)], next_cursor: null } };
}

function getWorkspace({ workspaces }: WorkspacePorts): Route {
  return defineRoute({
    method: "get",
    path: "/workspaces/{id}",
    id: "getWorkspace",
    tag: "Workspace",
    summary: "One workspace",
    auth: ["bearer", "service_key"],
    roles: PEOPLE,
    params: Type.Object({ id: Type.String() }),
    responses: { 200: { description: "The workspace", schema: workspaceSchema } },
    resolve: ({ principal, params }) =>
      requireWorkspace(workspaces, principal, params.id, "workspace.read"),
    async handle(_request, workspace: WorkspaceRecord) {
      return { status: 200, body: presentWorkspace(workspace) };
    },
  });
}
