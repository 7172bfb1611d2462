import { type Static, Type } from "@sinclair/typebox";
import { maySession } from "../../access/policy.ts";
import { AppError, toAppError } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import { commandIdOf } from "../../rest/idempotency.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import { uuid } from "../../rest/schemas.ts";
import type { CommandOf } from "../../session/command.ts";
import type { ClaimReply } from "../../session/decide-speakers.ts";
import type { SessionActors } from "../context.ts";
import {
  assertAllowed,
  requireSession,
  type SessionAccess,
  type SessionGrant,
} from "../sessions/access.ts";
import { claimSource, sessionParams } from "../sessions/schema.ts";
import type { SessionStore } from "../sessions/store.ts";

interface SpeakerClaimOptions {
  directory: SessionAccess;
  assignees: Pick<SessionStore, "isAssignable">;
  /** Says that a label which somebody else claims is this user's voice. */
  contest: (sessionId: string, label: string, userId: string) => Promise<void>;
  actors: SessionActors;
}

const claimBody = Type.Object({
  speaker_label: Type.String({
    pattern: "^S[1-9][0-9]{0,5}$",
    description: "A label of this session, of the form S1",
  }),
  source: claimSource,
  assigned_user_id: Type.Optional(
    Type.Unknown({
      description:
        "UUID of a user with whom the caller shares a workspace or this session, or of a guest of this session: 404 for others, as for unknown ones. Required for `moderator_assignment`, ignored otherwise",
    }),
  ),
});

async function assigneeOf(
  assignees: SpeakerClaimOptions["assignees"],
  grant: SessionGrant,
  body: Static<typeof claimBody>,
): Promise<string> {
  if (body.source === "self_claim") return grant.principal.id;
  // Only the session's owner assigns a label to another person.
  assertAllowed(maySession(grant.principal, "session.assign", grant.facts));
  const id = body.assigned_user_id;
  if (typeof id !== "string" || !isId(id)) {
    throw new AppError(
      "invalid_body",
      "assigned_user_id must be a UUID when source is moderator_assignment.",
    );
  }
  if (!(await assignees.isAssignable(grant.principal, grant.facts.id, id))) {
    throw new AppError("not_found", "There is no user with the id in assigned_user_id.");
  }
  return id;
}

/**
 * A label that somebody with an account says is theirs, and another holds, is in dispute: no voice is
 * remembered by that claim any more.
 */
async function claimOrContest(
  { contest, actors }: SpeakerClaimOptions,
  { principal, facts }: SessionGrant,
  command: CommandOf<"Claim">,
  commandId: string,
): Promise<ClaimReply> {
  try {
    return (await actors.ask(facts.id, command, commandId)) as ClaimReply;
  } catch (thrown) {
    const isContest = principal.kind === "user" && toAppError(thrown).code === "already_claimed";
    if (isContest) await contest(facts.id, command.label, principal.id);
    throw thrown;
  }
}

/** POST /sessions/{id}/speaker-claims. */
export function speakerClaimRoutes(options: SpeakerClaimOptions): Route[] {
  const { directory, assignees } = options;
  const claim = defineRoute({
    method: "post",
    path: "/sessions/{session_id}/speaker-claims",
    id: "claimSpeaker",
    tag: "Session",
    throughActor: true,
    summary: "Claim a speaker label, or assign it to a user",
    description:
      "`self_claim`: the voice is the caller's own. `moderator_assignment`, by the session's owner alone: it is that of `assigned_user_id`, whoever had claimed it. A self claim replaces nobody's: 409 `already_claimed`, which contests the other one; a voice that was remembered by it is forgotten. The transcript shows the claimer's name from then on, and viewers get `SpeakerClaimed`.",
    auth: ["bearer"],
    params: sessionParams,
    body: { kind: "json", schema: claimBody },
    responses: {
      200: {
        description: "The claim in force",
        schema: Type.Object({
          speaker_label: Type.String(),
          source: claimSource,
          claimed_user_id: uuid,
        }),
      },
    },
    errors: ["forbidden", "already_claimed"],
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.claim"),
    async handle(request, grant) {
      const { body } = request;
      const claimedUserId = await assigneeOf(assignees, grant, body);
      const command = {
        type: "Claim" as const,
        label: body.speaker_label,
        source: body.source,
        claimedUserId,
        byUserId: grant.principal.id,
        byOwner: grant.facts.relation === "owner",
      };
      const claimed = await claimOrContest(options, grant, command, commandIdOf(request));
      return {
        status: 200,
        body: {
          speaker_label: claimed.label,
          source: claimed.source,
          claimed_user_id: claimed.claimedUserId,
        },
      };
    },
  });
  return [claim];
}
