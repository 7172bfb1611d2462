import { type Static, Type } from "@sinclair/typebox";
import { GUEST_ACCESS, mayWorkspace, type WorkspaceAction } from "../../access/policy.ts";
import type { Principal, ServicePrincipal } from "../../access/principal.ts";
import { toTimestamp } from "../../base/clock.ts";
import { AppError, unknownThing } from "../../base/errors.ts";
import { isId, newId } from "../../base/ids.ts";
import type { WorkspaceUse } from "../../postgres/ceilings.ts";
import { requirePrincipal, requireUser } from "../../rest/callers.ts";
import { exampleOf } from "../../rest/examples.ts";
import { pageQuery, pageSchema, toPageBody, toPageRequest } from "../../rest/page.ts";
import { defineRoute, HUMAN_ROLES, type Reply, type Route } from "../../rest/route.ts";
import { NOTE_TEMPLATES, type NoteTemplateId } from "../../session/status.ts";
import { nameSchema } from "../../wire/names.ts";
import { vocabularySchema } from "../../wire/vocabulary.ts";
import type { WorkspaceRecord, WorkspaceStore } from "./store.ts";

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

export const workspaceType = Type.Union([Type.Literal("private"), Type.Literal("team")], {
  $id: "WorkspaceType",
});

export const guestAccess = Type.Union(GUEST_ACCESS.map((each) => Type.Literal(each)));

/** The name of a template of notes; GET /workspaces/{id}/note-templates tells what it has. */
export const notesTemplate = Type.Union(
  NOTE_TEMPLATES.map((id) => Type.Literal(id)),
  { examples: ["sales_call"] },
);

const useSchema = Type.Object(
  {
    used: Type.Integer({ description: "How many, or how much, there is now" }),
    most: Type.Optional(Type.Integer({ description: "Absent: any number" })),
  },
  { $id: "Use" },
);

const usageSchema = Type.Object(
  {
    devices: useSchema,
    api_keys: useSchema,
    webhooks: useSchema,
    recordings: useSchema,
    stored_bytes: useSchema,
  },
  {
    $id: "Usage",
    examples: [
      {
        devices: { used: 3, most: 50 },
        api_keys: { used: 1, most: 20 },
        webhooks: { used: 1, most: 10 },
        recordings: { used: 2, most: 25 },
        stored_bytes: { used: 734_003_200 },
      },
    ],
    description:
      "For who may change the workspace, where it is shown alone: what there is and may be of paired devices, service keys, webhooks, sessions that record now, and bytes of audio. What would be more is refused with 403 `quota_exceeded` when it begins",
  },
);

export const WORKSPACE_VOCABULARY =
  "Words and phrases that are expected in all of its sessions, besides their own: from the next reading on";

export const workspaceSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String({ description: "Name of the workspace", examples: ["Product team"] }),
    workspace_type: workspaceType,
    preferred_language: Type.String(),
    vocabulary: Type.Array(Type.String(), {
      description: "Words and phrases that are expected in all of its sessions",
    }),
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
    speech_engine: Type.Optional(
      Type.String({
        description: "Reads its sessions, where these name no engine; absent: the installation's",
      }),
    ),
    remote_engines: Type.Boolean({
      description: "Whether engines are allowed to which the sound leaves this installation",
    }),
    remote_text: Type.Boolean({
      description: "Whether a language model is allowed to which the text leaves this installation",
    }),
    automatic_notes: Type.Boolean({
      description: "Whether its sessions get notes without being asked for",
    }),
    notes_template: Type.Unsafe<NoteTemplateId>({
      ...notesTemplate,
      description: "By which template their notes are arranged, where they name no other",
    }),
    usage: Type.Optional(usageSchema),
    created_at: Type.String(),
    updated_at: Type.String(),
  },
  { $id: "Workspace" },
);

const workspaceScope = Type.Union([Type.Literal("member"), Type.Literal("all")], {
  default: "member",
  description: "`all`: those of others too, for administrators only (403 for everybody else)",
});

function presentUse({ storedBytes, keys, ...use }: WorkspaceUse): Static<typeof usageSchema> {
  return { ...use, api_keys: keys, stored_bytes: storedBytes };
}

/** The workspace, with its usage for who may change it. */
export async function presentManaged(
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
    vocabulary: workspace.vocabulary,
    retention_days: workspace.retentionDays,
    default_guest_access: workspace.defaultGuestAccess,
    speech_engine: workspace.speechEngine,
    remote_engines: workspace.remoteEngines,
    remote_text: workspace.remoteText,
    automatic_notes: workspace.automaticNotes,
    notes_template: workspace.notesTemplate,
    created_at: toTimestamp(workspace.createdAt),
    updated_at: toTimestamp(workspace.updatedAt),
  };
}

/** Members that nobody has set yet, and that only GET of one workspace shows. */
const FRESH = {
  retention_days: undefined,
  default_guest_access: undefined,
  speech_engine: undefined,
  usage: undefined,
};

function createWorkspace({ workspaces }: WorkspaceOptions): Route {
  return defineRoute({
    method: "post",
    path: "/workspaces",
    id: "createWorkspace",
    tag: "Workspace",
    summary: "Create a workspace; the caller becomes its owner",
    description:
      "It is `private` and has no other members yet; its settings are changed with PATCH /workspaces/{id}.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    body: {
      kind: "json",
      schema: Type.Object({
        name: nameSchema({ minLength: 1, maxLength: 200, examples: ["Product team"] }),
        preferred_language: Type.Optional(
          Type.String({ maxLength: 35, description: "BCP 47 tag", default: DEFAULT_LANGUAGE }),
        ),
        vocabulary: Type.Optional(vocabularySchema(WORKSPACE_VOCABULARY)),
      }),
    },
    responses: { 201: { description: "The workspace", schema: workspaceSchema, example: FRESH } },
    errors: ["quota_exceeded"],
    async handle({ principal, body }) {
      const owner = requireUser(principal);
      const workspace = await workspaces.insert({
        id: newId(),
        name: body.name,
        preferredLanguage: canonicalLanguage(body.preferred_language ?? DEFAULT_LANGUAGE),
        vocabulary: body.vocabulary,
        ownerId: owner.id,
      });
      return { status: 201, body: presentWorkspace(workspace) };
    },
  });
}

/** A BCP 47 tag in its canonical spelling, for example `pt-BR`. */
export function canonicalLanguage(tag: string): string {
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
    roles: HUMAN_ROLES,
    query: Type.Object({ ...pageQuery, scope: Type.Optional(workspaceScope) }),
    responses: {
      200: {
        description: "A page",
        schema: pageSchema(workspaceSchema),
        example: { items: [exampleOf(workspaceSchema, "", { usage: undefined })] },
      },
    },
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
    description: "`usage` is there for who may change the workspace.",
    auth: ["bearer", "service_key"],
    roles: HUMAN_ROLES,
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
