import { type Static, Type } from "@sinclair/typebox";
import type { Principal } from "../../access/principal.ts";
import { toTimestamp } from "../../base/clock.ts";
import { AppError, behind, unknownThing } from "../../base/errors.ts";
import { isId, newId } from "../../base/ids.ts";
import { requireUser } from "../../rest/callers.ts";
import { filterId, pageQuery, pageSchema, toPageBody, toPageRequest } from "../../rest/page.ts";
import { expectedUpdate, staleEdit } from "../../rest/representations.ts";
import {
  acknowledge,
  acknowledged,
  defineRoute,
  HUMAN_ROLES,
  type Route,
} from "../../rest/route.ts";
import { timestamp } from "../../rest/schemas.ts";
import { nameSchema } from "../../wire/names.ts";
import { requireWorkspace } from "./routes.ts";
import type { WorkspaceStore } from "./store.ts";
import type { CharacterRecord, WorkshopRecord, WorkshopStore } from "./workshops-store.ts";

const REMOVED = "The workshop was removed.";

export const nameMember = nameSchema({
  minLength: 1,
  maxLength: 200,
  examples: ["The Seagull, spring production"],
});
export const descriptionMember = Type.String({
  maxLength: 4_000,
  description: "What it is about",
  examples: ["Rehearsals of the second act."],
});

export const workshopParams = Type.Object({
  workshop_id: Type.String({ description: "UUID of the workshop" }),
});

export const characterParams = Type.Object({
  workshop_id: Type.String({ description: "UUID of the workshop" }),
  character_id: Type.String({ description: "UUID of the character" }),
});

const workshopSchema = Type.Object(
  {
    id: Type.String(),
    workspace_id: Type.String(),
    name: Type.String({
      description: "Name of the workshop",
      examples: ["The Seagull, spring production"],
    }),
    description: Type.String({
      description: "What it is about",
      examples: ["Rehearsals of the second act."],
    }),
    created_at: timestamp,
    updated_at: timestamp,
  },
  { $id: "Workshop" },
);

export const characterSchema = Type.Object(
  {
    id: Type.String(),
    workshop_id: Type.String(),
    name: Type.String({ description: "Name of the character", examples: ["Nina"] }),
    description: Type.String({
      description: "What it is about",
      examples: ["Wants to be an actress."],
    }),
    is_active: Type.Boolean({
      description: "Its name joins the vocabulary of linked sessions and is suggested for speakers",
    }),
    created_at: timestamp,
    updated_at: timestamp,
  },
  { $id: "Character" },
);

function presentWorkshop(workshop: WorkshopRecord): Static<typeof workshopSchema> {
  return {
    id: workshop.id,
    workspace_id: workshop.workspaceId,
    name: workshop.name,
    description: workshop.description,
    created_at: toTimestamp(workshop.createdAt),
    updated_at: toTimestamp(workshop.updatedAt),
  };
}

/** A character as in 2.5 of the interface. */
export function presentCharacter(character: CharacterRecord): Static<typeof characterSchema> {
  return {
    id: character.id,
    workshop_id: character.workshopId,
    name: character.name,
    description: character.description,
    is_active: character.isActive,
    created_at: toTimestamp(character.createdAt),
    updated_at: toTimestamp(character.updatedAt),
  };
}

export interface WorkshopAccess {
  workshops: Pick<WorkshopStore, "find">;
  workspaces: Pick<WorkspaceStore, "find" | "role">;
}

function unknownWorkshop(id: string): AppError {
  return unknownThing("workshop", id);
}

/**
 * Returns the workshop if the caller may work in its workspace. Throws 404 for an unknown one, 403
 * when the caller has no such right.
 */
export async function requireWorkshop(
  { workshops, workspaces }: WorkshopAccess,
  principal: Principal | undefined,
  id: string,
): Promise<WorkshopRecord> {
  const workshop = isId(id) ? await workshops.find(id) : undefined;
  if (workshop === undefined) throw unknownWorkshop(id);
  const { workspaceId } = workshop;
  const looked = requireWorkspace(workspaces, principal, workspaceId, "workspace.workshops");
  await behind("workshop", id, looked);
  return workshop;
}

/**
 * Checks that a session can be linked to the workshop, which must be in its own workspace. Throws
 * 404 for an unknown one, 403 for others.
 */
export async function assertLinkable(
  workshops: Pick<WorkshopStore, "find">,
  workshopId: string,
  workspaceId: string,
): Promise<void> {
  const workshop = isId(workshopId) ? await workshops.find(workshopId) : undefined;
  if (workshop === undefined) throw unknownWorkshop(workshopId);
  if (workshop.workspaceId === workspaceId) return;
  throw new AppError("forbidden", "The workshop belongs to another workspace than the session.");
}

interface WorkshopOptions {
  workshops: WorkshopStore;
  workspaces: Pick<WorkspaceStore, "find" | "role">;
  cursorKey: Uint8Array;
}

/** GET and POST /workshops; GET, PATCH and DELETE /workshops/{workshop_id}. */
export function workshopRoutes(options: WorkshopOptions): Route[] {
  return [
    createWorkshop(options),
    listWorkshops(options),
    getWorkshop(options),
    editWorkshop(options),
    removeWorkshop(options),
  ];
}

function createWorkshop({ workshops, workspaces }: WorkshopOptions): Route {
  return defineRoute({
    method: "post",
    path: "/workshops",
    id: "createWorkshop",
    tag: "Workshop",
    summary: "Create a workshop in a workspace that the caller belongs to",
    description:
      "Sessions may be linked to it: the recogniser then expects the names of its active characters, and they are offered for the session's voices.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
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
      const name = body.name;
      const workshop = await workshops.insert({ id: newId(), workspaceId, name, description });
      return { status: 201, body: presentWorkshop(workshop) };
    },
  });
}

function listWorkshops({ workshops, cursorKey }: WorkshopOptions): Route {
  return defineRoute({
    method: "get",
    path: "/workshops",
    id: "listWorkshops",
    tag: "Workshop",
    summary: "Workshops of the caller's workspaces, newest first; all of them for an admin",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
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

function getWorkshop(options: WorkshopOptions): Route {
  return defineRoute({
    method: "get",
    path: "/workshops/{workshop_id}",
    id: "getWorkshop",
    tag: "Workshop",
    summary: "One workshop",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: workshopParams,
    responses: { 200: { description: "The workshop", schema: workshopSchema } },
    resolve: ({ principal, params }) => requireWorkshop(options, principal, params.workshop_id),
    async handle(_request, workshop: WorkshopRecord) {
      return { status: 200, body: presentWorkshop(workshop) };
    },
  });
}

function editWorkshop(options: WorkshopOptions): Route {
  return defineRoute({
    method: "patch",
    path: "/workshops/{workshop_id}",
    id: "editWorkshop",
    tag: "Workshop",
    summary: "Change a workshop's name or description",
    description: "Members that are left out stay as they are.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: workshopParams,
    body: {
      kind: "json",
      schema: Type.Object({
        name: Type.Optional(nameMember),
        description: Type.Optional(descriptionMember),
      }),
    },
    responses: { 200: { description: "The workshop as it stands", schema: workshopSchema } },
    resolve: ({ principal, params }) => requireWorkshop(options, principal, params.workshop_id),
    async handle(request, { id }: WorkshopRecord) {
      const name = request.body.name;
      const { description } = request.body;
      const since = expectedUpdate(request);
      if (name === undefined && description === undefined) {
        throw new AppError("invalid_body", "Send `name`, `description`, or both.");
      }
      const workshop = await options.workshops.change(id, { name, description }, since);
      if (workshop === undefined) throw since === undefined ? unknownWorkshop(id) : staleEdit();
      return { status: 200, body: presentWorkshop(workshop) };
    },
  });
}

function removeWorkshop(options: WorkshopOptions): Route {
  return defineRoute({
    method: "delete",
    path: "/workshops/{workshop_id}",
    id: "removeWorkshop",
    tag: "Workshop",
    summary: "Remove a workshop with its characters",
    description: "Sessions that were linked to it stay, without the link.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: workshopParams,
    responses: { 200: acknowledged(REMOVED) },
    resolve: ({ principal, params }) => requireWorkshop(options, principal, params.workshop_id),
    async handle(_request, { id }: WorkshopRecord) {
      await options.workshops.remove(id);
      return acknowledge(REMOVED);
    },
  });
}
