import { Type } from "@sinclair/typebox";
import { acknowledge, acknowledgementSchema } from "../../rest/acknowledgement.ts";
import { commandIdOf } from "../../rest/repeatable.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import type { SessionWishPorts } from "../sessions/session-actors.ts";
import { requireSession } from "../sessions/sessions-access.ts";
import { sessionParams } from "../sessions/sessions-schema.ts";

const label = Type.String({ pattern: "^S[1-9][0-9]{0,5}$" });

/** POST /sessions/{id}/speakers/merge, DELETE /sessions/{id}/speaker-claims/{label}. */
export function speakerEditRoutes({ directory, actors }: SessionWishPorts): Route[] {
  const merge = defineRoute({
    method: "post",
    path: "/sessions/{session_id}/speakers/merge",
    id: "mergeSpeakers",
    tag: "Session",
    wish: true,
    summary: "Say that two labels are one voice",
    description: "The older label survives, whichever way they are named, and claims follow.",
    auth: ["bearer", "service_key"],
    params: sessionParams,
    body: {
      kind: "json",
      schema: Type.Object({ from: label, into: label }, { examples: [{ from: "S2", into: "S1" }] }),
    },
    responses: {
      200: {
        description: "What became of them",
        schema: Type.Object({ from: Type.String(), into: Type.String() }),
      },
    },
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.edit"),
    async handle(request) {
      const { params, body } = request;
      const command = { type: "MergeSpeakers" as const, ...body };
      const merged = await actors.ask(params.session_id, command, commandIdOf(request));
      return { status: 200, body: merged };
    },
  });
  const unclaim = defineRoute({
    method: "delete",
    path: "/sessions/{session_id}/speaker-claims/{label}",
    id: "unclaimSpeaker",
    tag: "Session",
    wish: true,
    summary: "Take a claim back",
    description: "By whoever claimed the label, or by the session's owner. Idempotent.",
    auth: ["bearer"],
    params: Type.Object({ session_id: Type.String(), label: Type.String() }),
    responses: { 200: { description: "Done", schema: acknowledgementSchema } },
    errors: ["forbidden", "guest_access_closed"],
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.claim"),
    async handle(request, { principal, facts }) {
      const { params } = request;
      const byOwner = facts.relation === "owner";
      const command = {
        type: "Unclaim" as const,
        label: params.label,
        byUserId: principal.id,
        byOwner,
      };
      await actors.ask(params.session_id, command, commandIdOf(request));
      return acknowledge("The claim was taken back.");
    },
  });
  return [merge, unclaim];
}
