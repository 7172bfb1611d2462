import { Type } from "@sinclair/typebox";
import { AppError } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import { acknowledge, acknowledgementSchema } from "../../rest/acknowledgement.ts";
import { requireUser } from "../../rest/callers.ts";
import { filterId, pageQuery, pageSchema, toPageBody, toPageRequest } from "../../rest/page.ts";
import { expectedUpdate, staleEdit } from "../../rest/representations.ts";
import { defineRoute, PEOPLE, type Route } from "../../rest/route.ts";
import { requireWorkshop, unknownWorkshop } from "./workshops-access.ts";
import type { WorkshopDirectory, WorkshopRecord } from "./workshops-directory.ts";
import {
  descriptionMember,
  nameMember,
  presentWorkshop,
  workshopParams,
  workshopSchema,
} from "./workshops-schema.ts";
import { requireWorkspace } from "./workspaces-access.ts";
import type { WorkspaceDirectory } from "./workspaces-directory.ts";

export interface WorkshopPorts {
  workshops: WorkshopDirectory;
  workspaces: Pick<WorkspaceDirectory, "find" | "role">;
  cursorKey: Uint8Array;
}

/** GET and POST /workshops; GET, PATCH and DELETE /workshops/{workshop_id}. */
export function workshopRoutes(ports: WorkshopPorts): Route[] {
  return [
    createWorkshop(ports),
    listWorkshops(ports),
    getWorkshop(ports),
    editWorkshop(ports),
    removeWorkshop(ports),
  ];
}

function createWorkshop({ workshops, workspaces }: WorkshopPorts): Route {
  return defineRoute({
    method: "post",
    path: "/workshops",
    id: "createWorkshop",
    tag: "Workshop",
    summary: "Create a workshop in a workspace that the caller belongs to",
    auth: ["bearer"],
    roles: PEOPLE,
    body: {
      kind: "json",
      schema: Type.Object({
        workspace_id: Type.String(),
        name: nameMember,
        description: Type.Optional(descriptionMember),
      }),
    },
    responses: { 201: { description: "The workshop", schema: workshopSchema } },
    errors: ["not_found"],
    async handle({ principal, body }) {
      const workspaceId = body.workspace_id;
      await requireWorkspace(workspaces, principal, workspaceId, "workspace.workshops");
      const { description = "" } = body;
      const name = body.name.trim();
      const workshop = await workshops.insert({ id: newId(), workspaceId, name, description });
      return { status: 201, body: presentWorkshop(workshop) };
    },
  });
}

function listWorkshops({ workshops, cursorKey }: WorkshopPorts): Route {
  return defineRoute({
    method: "get",
    path: "/workshops",
    id: "listWorkshops",
    tag: "Workshop",
    summary: "Workshops of the caller's workspaces, newest first; all of them for an admin",
    auth: ["bearer"],
    roles: PEOPLE,
    query: Type.Object({ ...pageQuery, workspace_id: Type.Optional(Type.String()) }),
    responses: { 200: { description: "A page", schema: pageSchema(workshopSchema) } },
    async handle({ principal, query }) {
      const caller = requireUser(principal);
      const memberId = caller.role === "admin" ? undefined : caller.id;
      const workspaceId = filterId("workspace_id", query.workspace_id);
      const page = toPageRequest(cursorKey, "workshops", query);
      const found = await workshops.list({ workspaceId, memberId }, page);
      return { status: 200, body: toPageBody(cursorKey, "workshops", found, presentWorkshop) };
    },
  });
}

function getWorkshop(ports: WorkshopPorts): Route {
  return defineRoute({
    method: "get",
    path: "/workshops/{workshop_id}",
    id: "getWorkshop",
    tag: "Workshop",
    summary: "One workshop",
    auth: ["bearer"],
    roles: PEOPLE,
    params: workshopParams,
    responses: { 200: { description: "The workshop", schema: workshopSchema } },
    resolve: ({ principal, params }) => requireWorkshop(ports, principal, params.workshop_id),
    async handle(_request, workshop: WorkshopRecord) {
      return { status: 200, body: presentWorkshop(workshop) };
    },
  });
}

function editWorkshop(ports: WorkshopPorts): Route {
  return defineRoute({
    method: "patch",
    path: "/workshops/{workshop_id}",
    id: "editWorkshop",
    tag: "Workshop",
    summary: "Change a workshop's name or description",
    description: "Members that are left out stay as they are.",
    auth: ["bearer"],
    roles: PEOPLE,
    params: workshopParams,
    body: {
      kind: "json",
      schema: Type.Object({
        name: Type.Optional(nameMember),
        description: Type.Optional(descriptionMember),
      }),
    },
    responses: { 200: { description: "The workshop as it stands", schema: workshopSchema } },
    resolve: ({ principal, params }) => requireWorkshop(ports, principal, params.workshop_id),
    async handle(request, { id }: WorkshopRecord) {
      const name = request.body.name?.trim();
      const { description } = request.body;
      const since = expectedUpdate(request);
      if (name === undefined && description === undefined) {
        throw new AppError("invalid_body", "Send `name`, `description`, or both.");
      }
      const workshop = await ports.workshops.change(id, { name, description }, since);
      if (workshop === undefined) throw since === undefined ? unknownWorkshop(id) : staleEdit();
      return { status: 200, body: presentWorkshop(workshop) };
    },
  });
}

function removeWorkshop(ports: WorkshopPorts): Route {
  return defineRoute({
    method: "delete",
    path: "/workshops/{workshop_id}",
    id: "removeWorkshop",
    tag: "Workshop",
    summary: "Remove a workshop with its characters",
    description: "Sessions that were linked to it stay, without the link.",
    auth: ["bearer"],
    roles: PEOPLE,
    params: workshopParams,
    responses: { 200: { description: "Removed", schema: acknowledgementSchema } },
    resolve: ({ principal, params }) => requireWorkshop(ports, principal, params.workshop_id),
    async handle(_request, { id }: WorkshopRecord) {
      await ports.workshops.remove(id);
      return acknowledge("The workshop was removed.");
    },
  });
}
