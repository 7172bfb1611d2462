import { type Static, Type } from "@sinclair/typebox";
import { actorOf } from "../../access/audit-trail.ts";
import { toTimestamp } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import { timestamp } from "../../rest/timestamp.ts";
import { requireSession } from "../sessions/sessions-access.ts";
import type { SessionDirectory } from "../sessions/sessions-directory.ts";
import { sessionParams } from "../sessions/sessions-schema.ts";
import type { DeletionReceipt, SessionEraser } from "./session-eraser.ts";

export interface SessionDeletePorts {
  directory: SessionDirectory;
  eraser: SessionEraser;
}

const receiptSchema = Type.Object({
  success: Type.Literal(true),
  message: Type.String(),
  receipt_id: Type.String(),
  session_id: Type.String(),
  kind: Type.String({ examples: ["session_deleted_by_owner"] }),
  deleted_at: timestamp,
  removed: Type.Record(Type.String(), Type.Integer(), {
    description: "What was removed, counted",
  }),
  audio_erased: Type.Boolean({
    description: "The audio files are gone; if false the service goes on removing them",
  }),
});

/** DELETE /sessions/{id}. */
export function sessionDeleteRoutes({ directory, eraser }: SessionDeletePorts): Route[] {
  const remove = defineRoute({
    method: "delete",
    path: "/sessions/{session_id}",
    id: "deleteSession",
    tag: "Session",
    summary: "Delete a session for good",
    description:
      "By its owner or an admin, in any state. Words, audio, names and everything derived from them go; open sockets close. It cannot be undone. The receipt lists what was removed; an admin who repeats the call gets it again.",
    auth: ["bearer", "service_key"],
    params: sessionParams,
    responses: { 200: { description: "What was removed", schema: receiptSchema } },
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.delete"),
    async handle(_request, { principal, facts }) {
      const own = facts.relation === "owner" || principal.kind === "service";
      const kind = own ? "session_deleted_by_owner" : "session_deleted_by_admin";
      const receipt = await eraser.erase(facts.id, kind, actorOf(principal));
      if (receipt === undefined)
        throw new AppError("not_found", "There is no session with this id.");
      return { status: 200, body: present(receipt) };
    },
  });
  return [remove];
}

function present(receipt: DeletionReceipt): Static<typeof receiptSchema> {
  return {
    success: true,
    message: receipt.audioErased
      ? "The session is deleted."
      : "The session is deleted; its audio files are being removed.",
    receipt_id: receipt.id,
    session_id: receipt.sessionId,
    kind: receipt.kind,
    deleted_at: toTimestamp(receipt.deletedAt),
    removed: receipt.removed,
    audio_erased: receipt.audioErased,
  };
}
