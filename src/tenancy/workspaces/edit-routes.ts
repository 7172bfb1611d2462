import { Type } from "@sinclair/typebox";
import { actorOf } from "../../access/audit-entry.ts";
import { elevationDetail, type OwnerNotices } from "../../access/elevation.ts";
import type { RevocationFeed } from "../../access/revocations.ts";
import { AppError } from "../../base/errors.ts";
import { requireUser } from "../../rest/callers.ts";
import { expectedUpdate, staleEdit } from "../../rest/representations.ts";
import {
  acknowledge,
  acknowledged,
  defineRoute,
  HUMAN_ROLES,
  type Route,
} from "../../rest/route.ts";
import type { NoteTemplateId } from "../../session/status.ts";
import { nameSchema } from "../../wire/names.ts";
import type { SpeechEngine } from "../../wire/speech-engines.ts";
import { vocabularySchema } from "../../wire/vocabulary.ts";
import { type GrantingOptions, requireGranting } from "./members-routes.ts";
import {
  canonicalLanguage,
  guestAccess,
  notesTemplate,
  presentManaged,
  requireWorkspace,
  WORKSPACE_VOCABULARY,
  workspaceSchema,
  workspaceType,
} from "./routes.ts";
import type {
  WorkspaceChange,
  WorkspaceEditStore,
  WorkspaceRecord,
  WorkspaceStore,
} from "./store.ts";

const DELETED = "The workspace was deleted.";

interface WorkspaceEditOptions extends Pick<GrantingOptions, "elevations"> {
  workspaces: Pick<WorkspaceStore, "find" | "role" | "use">;
  workspaceEdits: WorkspaceEditStore;
  revocations: Pick<RevocationFeed, "publish">;
  notices: OwnerNotices;
  engines: () => readonly SpeechEngine[];
}

const workspaceParams = Type.Object({ id: Type.String() });

/** PATCH and DELETE /workspaces/{id}. */
export function workspaceEditRoutes(options: WorkspaceEditOptions): Route[] {
  return [editWorkspace(options), removeWorkspace(options)];
}

const changeBody = Type.Object({
  name: Type.Optional(nameSchema({ minLength: 1, maxLength: 200, examples: ["Product team"] })),
  preferred_language: Type.Optional(Type.String({ maxLength: 35, description: "BCP 47 tag" })),
  vocabulary: Type.Optional(vocabularySchema(WORKSPACE_VOCABULARY)),
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
  speech_engine: Type.Optional(
    Type.Union([Type.String({ minLength: 1, maxLength: 64 }), Type.Null()], {
      description:
        "A name of GET /engines: reads the sessions that name no engine and whose language it knows; null: the installation's",
      examples: ["moonshine-tiny-en"],
    }),
  ),
  remote_engines: Type.Optional(
    Type.Boolean({
      description:
        "Whether engines are allowed to which the sound leaves this installation. By an owner, or an administrator under an elevation; it is audited, and viewers see it in the session's `sound_leaves`. Not allowed any more: what is being read by one goes on elsewhere at its next reading",
    }),
  ),
  remote_text: Type.Optional(
    Type.Boolean({
      description:
        "Whether the text of its sessions may go to a language model outside this installation, where the operator has configured one, so that their notes are worded by it. By an owner, or an administrator under an elevation; it is audited",
    }),
  ),
  automatic_notes: Type.Optional(
    Type.Boolean({
      description:
        "Whether its sessions get notes without being asked for: summaries of all types but `speakers`",
    }),
  ),
  notes_template: Type.Optional(
    Type.Unsafe<NoteTemplateId>({
      ...notesTemplate,
      description: "By which template the notes of its sessions are arranged, where they name none",
    }),
  ),
});

function editWorkspace(options: WorkspaceEditOptions): Route {
  const { workspaces, workspaceEdits, notices, engines } = options;
  return defineRoute({
    method: "patch",
    path: "/workspaces/{id}",
    id: "editWorkspace",
    tag: "Workspace",
    summary:
      "Change a workspace's name, language, vocabulary, type, retention, guest access, engines or notes",
    description:
      "By an owner of it or an administrator, who lets guests in under an elevation only, and closes without one. Members that are left out stay.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: workspaceParams,
    body: { kind: "json", schema: changeBody },
    responses: { 200: { description: "The workspace as it stands", schema: workspaceSchema } },
    errors: ["elevation_required"],
    resolve: ({ principal, params }) =>
      requireWorkspace(workspaces, principal, params.id, "workspace.edit"),
    async handle(request, { id }: WorkspaceRecord) {
      const { principal, body } = request;
      const language = body.preferred_language;
      const change: WorkspaceChange = {
        name: body.name,
        preferredLanguage: language === undefined ? undefined : canonicalLanguage(language),
        vocabulary: body.vocabulary,
        workspaceType: body.workspace_type,
        retentionDays: body.retention_days,
        defaultGuestAccess: body.default_guest_access,
        speechEngine: body.speech_engine,
        remoteEngines: body.remote_engines,
        remoteText: body.remote_text,
        automaticNotes: body.automatic_notes,
        notesTemplate: body.notes_template,
      };
      if (Object.values(change).every((value) => value === undefined)) {
        throw new AppError(
          "invalid_body",
          "Send `name`, `preferred_language`, `vocabulary`, `workspace_type`, `retention_days`, `default_guest_access`, `speech_engine`, `remote_engines`, `remote_text`, `automatic_notes` or `notes_template`.",
        );
      }
      assertKnownEngine(engines(), change.speechEngine);
      const since = expectedUpdate(request);
      const caller = requireUser(principal);
      // Whoever opens a workspace to guests can come in as one, without a name.
      const { defaultGuestAccess: access } = change;
      const letsIn = access !== undefined && access !== "closed";
      const isGiving = letsIn || change.remoteEngines === true || change.remoteText === true;
      const elevation = isGiving
        ? (await requireGranting(options, caller, id)).elevation
        : undefined;
      const grantor = { by: actorOf(caller), detail: elevationDetail(elevation) };
      const changed = await workspaceEdits.change(id, change, grantor, since);
      if (changed === undefined) {
        if (since !== undefined) throw staleEdit();
        throw new AppError("not_found", "There is no workspace with this id.");
      }
      if (elevation !== undefined && letsIn) {
        notices.notify({ adminId: caller.id, elevation, of: { guestsOfWorkspaceId: id } });
      }
      return { status: 200, body: await presentManaged(workspaces, caller, changed) };
    },
  });
}

function assertKnownEngine(
  engines: readonly SpeechEngine[],
  name: string | null | undefined,
): void {
  if (name === null || name === undefined || engines.some((each) => each.name === name)) return;
  const names = engines.map((each) => each.name).join(", ");
  throw new AppError("invalid_body", `There is no engine "${name}" here, only: ${names}.`);
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
    roles: HUMAN_ROLES,
    params: workspaceParams,
    responses: { 200: acknowledged(DELETED) },
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
      return acknowledge(DELETED);
    },
  });
}
