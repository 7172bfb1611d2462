import { Type } from "@sinclair/typebox";
import type { Principal } from "../../access/principal.ts";
import { AppError } from "../../base/errors.ts";
import { isId, newId } from "../../base/ids.ts";
import { pageQuery, pageSchema, toPageBody, toPageRequest } from "../../rest/page.ts";
import { expectedUpdate, staleEdit } from "../../rest/representations.ts";
import {
  acknowledge,
  acknowledged,
  defineRoute,
  HUMAN_ROLES,
  type Route,
} from "../../rest/route.ts";
import {
  characterParams,
  characterSchema,
  descriptionMember,
  nameMember,
  presentCharacter,
  requireWorkshop,
  type WorkshopAccess,
  workshopParams,
} from "./workshops-routes.ts";
import type { CharacterRecord, CharacterStore, WorkshopRecord } from "./workshops-store.ts";

const REMOVED = "The character was removed.";

interface CharacterOptions extends WorkshopAccess {
  characters: CharacterStore;
  cursorKey: Uint8Array;
}

const characterBody = Type.Object(
  {
    name: nameMember,
    description: Type.Optional(descriptionMember),
    is_active: Type.Optional(Type.Boolean()),
  },
  {
    $id: "CharacterInput",
    examples: [{ name: "Nina", description: "Wants to be an actress.", is_active: true }],
  },
);

/** GET and POST /workshops/{w}/characters; GET, PUT and DELETE /workshops/{w}/characters/{c}. */
export function characterRoutes(options: CharacterOptions): Route[] {
  return [
    createCharacter(options),
    listCharacters(options),
    getCharacter(options),
    replaceCharacter(options),
    removeCharacter(options),
  ];
}

function unknownCharacter(): AppError {
  return new AppError("not_found", "There is no character with this id in this workshop.");
}

async function requireCharacter(
  options: CharacterOptions,
  principal: Principal | undefined,
  params: { workshop_id: string; character_id: string },
): Promise<CharacterRecord> {
  const workshop = await requireWorkshop(options, principal, params.workshop_id);
  const id = params.character_id;
  const character = isId(id) ? await options.characters.find(workshop.id, id) : undefined;
  if (character === undefined) throw unknownCharacter();
  return character;
}

function createCharacter(options: CharacterOptions): Route {
  return defineRoute({
    method: "post",
    path: "/workshops/{workshop_id}/characters",
    id: "createCharacter",
    tag: "Workshop",
    summary: "Add a character to a workshop; active by default",
    description:
      "The name of an active character joins the vocabulary of sessions that are linked to the workshop, and is offered for their voices.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: workshopParams,
    body: { kind: "json", schema: characterBody },
    responses: { 201: { description: "The character", schema: characterSchema } },
    resolve: ({ principal, params }) => requireWorkshop(options, principal, params.workshop_id),
    async handle({ body }, workshop: WorkshopRecord) {
      const character = await options.characters.insert({
        id: newId(),
        workshopId: workshop.id,
        name: body.name,
        description: body.description ?? "",
        isActive: body.is_active ?? true,
      });
      return { status: 201, body: presentCharacter(character) };
    },
  });
}

function listCharacters(options: CharacterOptions): Route {
  const { characters, cursorKey } = options;
  return defineRoute({
    method: "get",
    path: "/workshops/{workshop_id}/characters",
    id: "listCharacters",
    tag: "Workshop",
    summary: "Characters of a workshop, newest first",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: workshopParams,
    query: Type.Object({ ...pageQuery, is_active: Type.Optional(Type.Boolean()) }),
    responses: { 200: { description: "A page", schema: pageSchema(characterSchema) } },
    resolve: ({ principal, params }) => requireWorkshop(options, principal, params.workshop_id),
    async handle({ query }, { id }: WorkshopRecord) {
      const list = `characters\u0000${id}`;
      const page = toPageRequest(cursorKey, list, query);
      const found = await characters.list(id, query.is_active, page);
      return { status: 200, body: toPageBody(cursorKey, list, found, presentCharacter) };
    },
  });
}

function getCharacter(options: CharacterOptions): Route {
  return defineRoute({
    method: "get",
    path: "/workshops/{workshop_id}/characters/{character_id}",
    id: "getCharacter",
    tag: "Workshop",
    summary: "One character",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: characterParams,
    responses: { 200: { description: "The character", schema: characterSchema } },
    resolve: ({ principal, params }) => requireCharacter(options, principal, params),
    async handle(_request, character: CharacterRecord) {
      return { status: 200, body: presentCharacter(character) };
    },
  });
}

function replaceCharacter(options: CharacterOptions): Route {
  return defineRoute({
    method: "put",
    path: "/workshops/{workshop_id}/characters/{character_id}",
    id: "replaceCharacter",
    tag: "Workshop",
    summary: "Update a character",
    description: "`description` and `is_active` stay as they are when left out.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: characterParams,
    body: { kind: "json", schema: characterBody },
    responses: { 200: { description: "The character as it stands", schema: characterSchema } },
    resolve: ({ principal, params }) => requireCharacter(options, principal, params),
    async handle(request, { id }: CharacterRecord) {
      const { body } = request;
      const { description, is_active: isActive } = body;
      const since = expectedUpdate(request);
      const change = { name: body.name, description, isActive };
      const character = await options.characters.change(id, change, since);
      if (character === undefined) throw since === undefined ? unknownCharacter() : staleEdit();
      return { status: 200, body: presentCharacter(character) };
    },
  });
}

function removeCharacter(options: CharacterOptions): Route {
  return defineRoute({
    method: "delete",
    path: "/workshops/{workshop_id}/characters/{character_id}",
    id: "removeCharacter",
    tag: "Workshop",
    summary: "Remove a character",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: characterParams,
    responses: { 200: acknowledged(REMOVED) },
    resolve: ({ principal, params }) => requireCharacter(options, principal, params),
    async handle(_request, { id }: CharacterRecord) {
      await options.characters.remove(id);
      return acknowledge(REMOVED);
    },
  });
}
