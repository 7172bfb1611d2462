import { type Static, Type } from "@sinclair/typebox";
import { SAMPLES_PER_MS } from "../../base/audio/sample-rate.ts";
import { AppError } from "../../base/errors.ts";
import { commandIdOf } from "../../rest/repeatable.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import type { SessionWishPorts } from "../sessions/session-actors.ts";
import { requireSession } from "../sessions/sessions-access.ts";
import { sessionParams } from "../sessions/sessions-schema.ts";

/** Beyond the end of any session, in samples: what is still to come is covered too. */
const OPEN_END = 2 ** 40;
const MAX_MS = OPEN_END / SAMPLES_PER_MS;

const body = Type.Object(
  {
    start_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_MS })),
    end_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_MS })),
    speaker_label: Type.Optional(Type.String({ pattern: "^S[1-9][0-9]{0,5}$" })),
  },
  { examples: [{ start_ms: 12_000, end_ms: 15_500 }] },
);

const answer = Type.Object({
  success: Type.Literal(true),
  redaction_id: Type.String(),
  segment_ids: Type.Array(Type.String(), { description: "Segments whose words were taken out" }),
});

/** POST /sessions/{id}/redactions. */
export function redactionRoutes({ directory, actors }: SessionWishPorts): Route[] {
  const redact = defineRoute({
    method: "post",
    path: "/sessions/{session_id}/redactions",
    id: "redactSession",
    tag: "Session",
    wish: true,
    summary: "Take out a time span, one speaker, or one speaker within a span, for good",
    description:
      "Every segment that touches the span loses its words, the audio of the span becomes silence, and summaries and the graph are made anew without it. With a speaker and no span it covers all that this voice says, also what is still to come. By the session's owner, a moderator of its workspace or an admin. It cannot be undone, and a redo does not bring it back.",
    auth: ["bearer", "service_key"],
    params: sessionParams,
    body: { kind: "json", schema: body },
    responses: { 201: { description: "What was taken out", schema: answer } },
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.redact"),
    async handle(request, { principal }) {
      const { params, body: wish } = request;
      const redactionId = commandIdOf(request);
      const { from, to } = spanOf(wish);
      const command = {
        type: "Redact" as const,
        redactionId,
        from,
        to,
        label: wish.speaker_label ?? "",
        byUserId: principal.id,
      };
      const done = (await actors.ask(params.session_id, command, redactionId)) as {
        segmentIds: string[];
      };
      return {
        status: 201,
        body: { success: true, redaction_id: redactionId, segment_ids: done.segmentIds },
      };
    },
  });
  return [redact];
}

/** In samples at 16 kHz. */
function spanOf(wish: Static<typeof body>): { from: number; to: number } {
  const { start_ms: start, end_ms: end, speaker_label: label } = wish;
  if (start === undefined && end === undefined && label === undefined) {
    throw new AppError("invalid_body", "Send `start_ms` and `end_ms`, `speaker_label`, or all.");
  }
  if ((start === undefined) !== (end === undefined)) {
    throw new AppError("invalid_body", "`start_ms` and `end_ms` go together.");
  }
  if (start === undefined || end === undefined) return { from: 0, to: OPEN_END };
  if (end <= start) throw new AppError("invalid_body", "`end_ms` must be after `start_ms`.");
  return { from: start * SAMPLES_PER_MS, to: end * SAMPLES_PER_MS };
}
