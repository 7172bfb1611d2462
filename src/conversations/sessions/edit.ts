import { Type } from "@sinclair/typebox";
import type { SessionAction } from "../../access/policy.ts";
import type { Principal } from "../../access/principal.ts";
import type { RevocationFeed } from "../../access/revocations.ts";
import { AppError } from "../../base/errors.ts";
import { expectedOf, staleEdit } from "../../rest/representations.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import { notesTemplate } from "../../tenancy/workspaces/routes.ts";
import { assertLinkable } from "../../tenancy/workspaces/workshops-routes.ts";
import type { WorkshopStore } from "../../tenancy/workspaces/workshops-store.ts";
import { nameSchema } from "../../wire/names.ts";
import { requireAction, requireSession } from "./access.ts";
import { assertCustomFields, changedCustomFields, unique } from "./custom-fields.ts";
import { namingTheOther } from "./external-ids.ts";
import { guestAccess, presentSession, sessionParams, sessionSchema } from "./schema.ts";
import type { SessionEditStore, SessionStore } from "./store.ts";

interface SessionEditOptions {
  directory: SessionStore;
  sessionEdits: SessionEditStore;
  workshops: Pick<WorkshopStore, "find">;
  revocations: Pick<RevocationFeed, "publish">;
}

const body = Type.Object({
  title: Type.Optional(nameSchema({ maxLength: 200 })),
  ...changedCustomFields,
  visibility: Type.Optional(Type.Union([Type.Literal("private"), Type.Literal("workspace")])),
  guest_access: Type.Optional(
    Type.Union([guestAccess, Type.Null()], {
      description: "null: as the workspace says, or where it says nothing the installation",
    }),
  ),
  workshop_id: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description:
        "A workshop of the session's workspace; null or an empty text takes the link away",
    }),
  ),
  notes_template: Type.Optional(
    Type.Union([notesTemplate, Type.Null()], {
      description:
        "By which its notes are arranged, from now on; null: as its workspace says. What its `custom` sections have is made with the next notes of a session that records, else when it is asked for (`custom_sections`)",
    }),
  ),
});

/**
 * What whoever may change anything of a session may do; what each change takes is checked with it.
 */
function leastAction(principal: Principal | undefined): SessionAction {
  const editsOnly = principal?.kind === "service" && !principal.scopes.includes("sessions:share");
  return editsOnly ? "session.edit" : "session.guests";
}

/** PATCH /sessions/{id}. */
export function sessionEditRoutes(options: SessionEditOptions): Route[] {
  const { directory, sessionEdits, workshops, revocations } = options;
  const edit = defineRoute({
    method: "patch",
    path: "/sessions/{session_id}",
    id: "editSession",
    tag: "Session",
    summary:
      "Change a session's title, ids, tags, workshop, notes, who sees it, and whether guests may join",
    description:
      "By its owner; a moderator of its workspace may change `guest_access`. `closed` ends the tokens and connections of all guests within 5 s, `invitation` those of guests who came by the session's id; who was ended stays so when it is opened again. `metadata` and `tags` take the place of those that it had. A service key needs `sessions:write` for the title, its own ids, the workshop and the template of its notes, `sessions:share` for `visibility` and `guest_access`.",
    auth: ["bearer", "service_key"],
    params: sessionParams,
    body: { kind: "json", schema: body },
    responses: { 200: { description: "The session as it stands", schema: sessionSchema } },
    errors: ["external_id_taken"],
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, leastAction(principal)),
    async handle(request, grant) {
      const { facts } = grant;
      const { params, body: change } = request;
      const { visibility, guest_access: access, ...edited } = change;
      const { title, external_id: externalId, metadata, tags } = edited;
      const workshopId = change.workshop_id === "" ? null : change.workshop_id;
      if (Object.keys(edited).length > 0) requireAction(grant, "session.edit");
      if (visibility !== undefined) requireAction(grant, "session.members");
      if (access !== undefined) requireAction(grant, "session.guests");
      if (Object.keys(change).length === 0) {
        throw new AppError(
          "invalid_body",
          "Send `title`, `external_id`, `metadata`, `tags`, `visibility`, `guest_access`, `workshop_id` or `notes_template`.",
        );
      }
      assertCustomFields(change);
      if (typeof workshopId === "string") {
        await assertLinkable(workshops, workshopId, facts.workspaceId);
      }
      const { session_id: sessionId } = params;
      const known = expectedOf(request, sessionSchema);
      const expected = known && {
        ...known,
        guestAccess: known.guest_access,
        workshopId: known.workshop_id ?? null,
        notesTemplate: known.notes_template ?? null,
        externalId: known.external_id ?? null,
      };
      const changed = {
        ...{ title, visibility, guestAccess: access, workshopId, externalId, metadata },
        tags: tags && unique(tags),
        notesTemplate: change.notes_template,
      };
      const place = { workspaceId: facts.workspaceId, externalId };
      const done = await namingTheOther(directory, grant.principal, place, () =>
        sessionEdits.change(sessionId, changed, expected),
      );
      if (!done && expected !== undefined) throw staleEdit();
      if ((access !== undefined && access !== "open") || visibility === "private") {
        revocations.publish({ kind: "session", sessionId });
      }
      const session = await directory.get(sessionId);
      if (session === undefined)
        throw new AppError("not_found", "There is no session with this id.");
      return { status: 200, body: presentSession(session) };
    },
  });
  return [edit];
}
