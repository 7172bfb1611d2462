import { Type } from "@sinclair/typebox";
import { type AuditActor, actorOf } from "../../access/audit-trail.ts";
import type { RevocationFeed } from "../../access/revocation-feed.ts";
import { AppError } from "../../base/errors.ts";
import { acknowledge, acknowledgementSchema } from "../../rest/acknowledgement.ts";
import { requireUser } from "../../rest/callers.ts";
import { expectedUpdate, staleEdit } from "../../rest/representations.ts";
import { defineRoute, PEOPLE, type Route } from "../../rest/route.ts";
import {
  canonicalLanguage,
  presentWorkspace,
  workspaceSchema,
  workspaceType,
} from "./workspaces.ts";
import { requireWorkspace } from "./workspaces-access.ts";
import type { WorkspaceDirectory, WorkspaceRecord } from "./workspaces-directory.ts";

/** Members that are absent stay as they are. */
export interface WorkspaceChange {
  name?: string | undefined;
  preferredLanguage?: string | undefined;
  workspaceType?: WorkspaceRecord["workspaceType"] | undefined;
  /** Null keeps words and audio until somebody deletes them. */
  retentionDays?: number | null | undefined;
}

/** Whose rights ended with a workspace. */
export interface RemovedWorkspace {
  memberIds: string[];
  deviceIds: string[];
}

/** Port: what owners decide of a workspace. Audit entries are part of each step. */
export interface WorkspaceEdits {
  /** Undefined, and nothing changed, when it went, or was changed after `since`. */
  change(
    id: string,
    change: WorkspaceChange,
    by: AuditActor,
    since?: number,
  ): Promise<WorkspaceRecord | undefined>;
  /**
   * Hides the workspace for ever, ends its members' rights and its devices'
   * keys. Throws `conflict` while a session of it is not deleted.
   */
  remove(id: string, by: AuditActor): Promise<RemovedWorkspace>;
}

export interface WorkspaceEditPorts {
  workspaces: Pick<WorkspaceDirectory, "find" | "role">;
  workspaceEdits: WorkspaceEdits;
  revocations: Pick<RevocationFeed, "publish">;
}

const workspaceParams = Type.Object({ id: Type.String() });

/** PATCH and DELETE /workspaces/{id}. */
export function workspaceEditRoutes(ports: WorkspaceEditPorts): Route[] {
  return [editWorkspace(ports), removeWorkspace(ports)];
}

const changeBody = Type.Object({
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 200, pattern: "\\S" })),
  preferred_language: Type.Optional(Type.String({ maxLength: 35, description: "BCP 47 tag" })),
  workspace_type: Type.Optional(workspaceType),
  retention_days: Type.Optional(
    Type.Union([Type.Integer({ minimum: 1, maximum: 3_650 }), Type.Null()], {
      description:
        "Days after which the words and audio of a session are deleted; null keeps them until somebody deletes them",
    }),
  ),
});

function editWorkspace({ workspaces, workspaceEdits }: WorkspaceEditPorts): Route {
  return defineRoute({
    method: "patch",
    path: "/workspaces/{id}",
    id: "editWorkspace",
    tag: "Workspace",
    summary: "Change a workspace's name, language, type or retention",
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
        name: body.name?.trim(),
        preferredLanguage: language === undefined ? undefined : canonicalLanguage(language),
        workspaceType: body.workspace_type,
        retentionDays: body.retention_days,
      };
      if (Object.values(change).every((value) => value === undefined)) {
        throw new AppError(
          "invalid_body",
          "Send `name`, `preferred_language`, `workspace_type` or `retention_days`.",
        );
      }
      const since = expectedUpdate(request);
      const by = actorOf(requireUser(principal));
      const changed = await workspaceEdits.change(id, change, by, since);
      if (changed === undefined) {
        if (since !== undefined) throw staleEdit();
        throw new AppError("not_found", "There is no workspace with this id.");
      }
      return { status: 200, body: presentWorkspace(changed) };
    },
  });
}

function removeWorkspace(ports: WorkspaceEditPorts): Route {
  const { workspaces, workspaceEdits, revocations } = ports;
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
