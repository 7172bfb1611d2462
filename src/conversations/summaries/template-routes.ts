import { type Static, Type } from "@sinclair/typebox";
import type { Principal } from "../../access/principal.ts";
import { AppError } from "../../base/errors.ts";
import { pageSchema } from "../../rest/page.ts";
import { expectedOf, staleEdit } from "../../rest/representations.ts";
import {
  acknowledge,
  acknowledged,
  defineRoute,
  HUMAN_ROLES,
  type Route,
} from "../../rest/route.ts";
import { optionalTime, timestamp } from "../../rest/schemas.ts";
import { NOTE_TEMPLATES, type NoteTemplateId } from "../../session/status.ts";
import { notesTemplate, requireWorkspace } from "../../tenancy/workspaces/routes.ts";
import type { WorkspaceStore } from "../../tenancy/workspaces/store.ts";
import { nameSchema } from "../../wire/names.ts";
import {
  assertSections,
  isTemplateId,
  LONGEST_INSTRUCTION,
  LONGEST_TITLE,
  MOST_CUSTOM,
  MOST_SECTIONS,
  SECTION_KINDS,
} from "./templates.ts";
import type { TemplateRecord, TemplateStore } from "./templates-store.ts";

const sectionTitle = nameSchema({
  minLength: 1,
  maxLength: LONGEST_TITLE,
  description: "Heading of the section",
  examples: ["What the customer needs"],
});
const templateTitle = nameSchema({
  minLength: 1,
  maxLength: LONGEST_TITLE,
  description: "What people choose it by",
  examples: ["Sales call"],
});

const sectionSchema = Type.Object(
  {
    title: sectionTitle,
    kind: Type.Union(
      SECTION_KINDS.map((kind) => Type.Literal(kind)),
      {
        description:
          "What stands in it: a summary of this type, each at most once in a template; or, `custom`, what its `instruction` says",
        examples: ["custom"],
      },
    ),
    instruction: Type.Optional(
      nameSchema({
        minLength: 1,
        maxLength: LONGEST_INSTRUCTION,
        description:
          "Of `custom`, and then required: what is wanted. A language model is told it; without one, each part between semicolons is searched for by its words, those in quotation marks as they stand, and a section of which nobody spoke stays empty",
        examples: ["what they need; which problem they want to solve"],
      }),
    ),
  },
  { $id: "NoteSection" },
);

const sections = Type.Array(sectionSchema, {
  minItems: 1,
  maxItems: MOST_SECTIONS,
  description: `The sections in order; titles are different, and at most ${MOST_CUSTOM} are of kind \`custom\``,
});

/** A template by which notes are arranged. */
export const templateMembers = {
  id: Type.Unsafe<NoteTemplateId>({ ...notesTemplate, description: "By which it is chosen" }),
  title: templateTitle,
  sections,
};

const templateSchema = Type.Object(
  {
    ...templateMembers,
    is_changed: Type.Boolean({
      description: "Whether this is a version of the workspace's own; else it is the built-in one",
    }),
    updated_at: Type.Optional(
      Type.Unsafe<string>({ ...timestamp, description: "When the workspace changed it last" }),
    ),
  },
  { $id: "NoteTemplate" },
);

const params = Type.Object({
  id: Type.String({ description: "UUID of the workspace" }),
  template: Type.String({ description: "Which template", examples: ["sales_call"] }),
});

const PATH = "/workspaces/{id}/note-templates/{template}";
const RESET = "The template is as it is built in again.";

interface TemplateOptions {
  workspaces: Pick<WorkspaceStore, "find" | "role">;
  templates: TemplateStore;
}

interface Found {
  workspaceId: string;
  id: NoteTemplateId;
}

/** GET /workspaces/{id}/note-templates; GET, PUT and DELETE of one of them. */
export function templateRoutes(options: TemplateOptions): Route[] {
  return [
    listTemplates(options),
    getTemplate(options),
    replaceTemplate(options),
    resetTemplate(options),
  ];
}

function present({ updatedAt, ...template }: TemplateRecord): Static<typeof templateSchema> {
  return {
    ...template,
    sections: [...template.sections],
    is_changed: updatedAt !== undefined,
    updated_at: optionalTime(updatedAt),
  };
}

async function requireTemplate(
  { workspaces }: TemplateOptions,
  principal: Principal | undefined,
  { id, template: templateId }: Static<typeof params>,
  action: "workspace.read" | "workspace.edit",
): Promise<Found> {
  const { id: workspaceId } = await requireWorkspace(workspaces, principal, id, action);
  if (isTemplateId(templateId)) return { workspaceId, id: templateId };
  throw new AppError("not_found", `There are only these templates: ${NOTE_TEMPLATES.join(", ")}.`);
}

/** The version that the caller's If-Match named; undefined without one. */
function knownOf(request: { expected?: unknown }): { updatedAt: number | undefined } | undefined {
  const expected = expectedOf(request, templateSchema);
  if (expected === undefined) return undefined;
  const { updated_at: at } = expected;
  return { updatedAt: at === undefined ? undefined : Date.parse(at) };
}

function listTemplates(options: TemplateOptions): Route {
  const { workspaces, templates } = options;
  return defineRoute({
    method: "get",
    path: "/workspaces/{id}/note-templates",
    id: "listNoteTemplates",
    tag: "Workspace",
    summary: "The templates by which the notes of a workspace's sessions are arranged",
    description:
      "All of them, each in the workspace's own version where it has one, so there is never a next page. Which one holds for sessions that name none is the workspace's `notes_template`.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: Type.Object({ id: params.properties.id }),
    responses: { 200: { description: "The templates", schema: pageSchema(templateSchema) } },
    resolve: ({ principal, params: { id } }) =>
      requireWorkspace(workspaces, principal, id, "workspace.read"),
    async handle(_request, { id }) {
      const found = await templates.list(id);
      return { status: 200, body: { items: found.map(present), next_cursor: null } };
    },
  });
}

function getTemplate(options: TemplateOptions): Route {
  return defineRoute({
    method: "get",
    path: PATH,
    id: "getNoteTemplate",
    tag: "Workspace",
    summary: "One template of a workspace's notes",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params,
    responses: { 200: { description: "The template as it holds", schema: templateSchema } },
    resolve: (request) =>
      requireTemplate(options, request.principal, request.params, "workspace.read"),
    async handle(_request, { workspaceId, id }) {
      return { status: 200, body: present(await options.templates.find(workspaceId, id)) };
    },
  });
}

function replaceTemplate(options: TemplateOptions): Route {
  return defineRoute({
    method: "put",
    path: PATH,
    id: "replaceNoteTemplate",
    tag: "Workspace",
    summary: "Make a version of the workspace's own of a template",
    description:
      "By an owner of it or an administrator. Notes of its sessions are arranged by it from now on; what sections of kind `custom` have is `stale` until it is made again.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params,
    body: {
      kind: "json",
      schema: Type.Object({ title: templateTitle, sections }, { $id: "NoteTemplateInput" }),
    },
    responses: { 200: { description: "The template as it stands", schema: templateSchema } },
    resolve: (request) =>
      requireTemplate(options, request.principal, request.params, "workspace.edit"),
    async handle(request, { workspaceId, id }) {
      assertSections(request.body.sections);
      const template = { id, ...request.body };
      const made = await options.templates.replace(workspaceId, template, knownOf(request));
      if (made === undefined) throw staleEdit();
      return { status: 200, body: present(made) };
    },
  });
}

function resetTemplate(options: TemplateOptions): Route {
  return defineRoute({
    method: "delete",
    path: PATH,
    id: "resetNoteTemplate",
    tag: "Workspace",
    summary: "Take the workspace's version of a template away: the built-in one holds again",
    description: "By an owner of it or an administrator.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params,
    responses: { 200: acknowledged(RESET) },
    resolve: (request) =>
      requireTemplate(options, request.principal, request.params, "workspace.edit"),
    async handle(request, { workspaceId, id }) {
      const isDone = await options.templates.reset(workspaceId, id, knownOf(request));
      if (!isDone) throw staleEdit();
      return acknowledge(RESET);
    },
  });
}
