import { Type } from "@sinclair/typebox";
import { toTimestamp } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { derivedId } from "../../base/ids.ts";
import type { Tenants } from "../../postgres/tenants.ts";
import { commandIdOf } from "../../rest/idempotency.ts";
import { defineRoute, HUMAN_ROLES, type Route } from "../../rest/route.ts";
import { NONE_WAITS } from "../../session/decide-retranscription.ts";
import type { SessionActors } from "../context.ts";
import { requireSession } from "../sessions/access.ts";
import { sessionParams } from "../sessions/schema.ts";
import type { SessionStore } from "../sessions/store.ts";
import type { CandidateStore } from "./candidates-store.ts";
import type { ComparisonOrder } from "./writing/comparison-document.ts";
import { comparisonSchema } from "./writing/comparison-schema.ts";
import type { TranscriptWriter } from "./writing/transcript-writer.ts";

interface ReviewOptions {
  directory: SessionStore;
  candidates: CandidateStore;
  actors: SessionActors;
  writer: Pick<TranscriptWriter, "comparison">;
  tenants: Tenants;
}

type Found = NonNullable<Awaited<ReturnType<CandidateStore["find"]>>>;

/** GET /sessions/{id}/transcriptions/candidate, POST …/accept and …/discard. */
export function reviewRoutes(options: ReviewOptions): Route[] {
  return [compare(options), review(options, "accepted"), review(options, "discarded")];
}

function compare({ directory, candidates, writer, tenants }: ReviewOptions): Route {
  return defineRoute({
    method: "get",
    path: "/sessions/{session_id}/transcriptions/candidate",
    id: "compareTranscription",
    tag: "Job",
    summary: "What a repeated transcription that waits would change, word by word",
    description:
      "Of a redo that was asked for with `review`, by the session's owner or an administrator with access to its content. Words correspond by time and text; case and marks make no other word. 404 as long as it is being read, and once it was accepted, discarded or replaced by a later redo.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: sessionParams,
    responses: { 200: { description: "The comparison", schema: comparisonSchema } },
    errors: ["elevation_required", "payload_too_large"],
    async resolve({ principal, params }) {
      await requireSession(directory, principal, params.session_id, "session.jobs");
      return requireSession(directory, principal, params.session_id, "session.content");
    },
    async handle({ params: { session_id: sessionId }, signal }) {
      const found = await candidates.find(sessionId);
      if (found?.status !== "waiting") throw noneWaits(found);
      const read = async () => {
        const texts = await candidates.texts(sessionId, found.attempt);
        if (texts === undefined) throw new AppError("not_found", NONE_WAITS);
        return texts;
      };
      const order: ComparisonOrder = {
        session_id: sessionId,
        job_id: found.jobId,
        transcription_id: transcriptionId(found),
        engine: found.engine,
        detected_language: found.detectedLanguage,
        created_at: toTimestamp(found.at),
        expires_at: toTimestamp(found.expiresAt),
        edits_replaced: found.edits,
      };
      const body = await writer.comparison(await tenants.ofSession(sessionId), read, order, signal);
      return { status: 200, body, headers: { "content-type": "application/json; charset=utf-8" } };
    },
  });
}

function noneWaits(found: Found | undefined): AppError {
  if (found === undefined) return new AppError("not_found", NONE_WAITS);
  const message =
    found.status === "reading"
      ? "The repeated transcription is not there yet."
      : `No repeated transcription waits: the newest one was ${found.status}.`;
  return new AppError("not_found", message);
}

function transcriptionId({ jobId, attempt }: Pick<Found, "jobId" | "attempt">): string {
  return derivedId("transcription", jobId, attempt);
}

const choiceBody = Type.Object(
  {
    transcription_id: Type.Optional(
      Type.String({
        description:
          "The comparison's; 409 when another result waits by now. Absent: whichever waits",
      }),
    ),
  },
  { $id: "ReviewChoice" },
);

const reviewedSchema = Type.Object(
  {
    success: Type.Literal(true),
    message: Type.String(),
    outcome: Type.Union([Type.Literal("accepted"), Type.Literal("discarded")], {
      description: "What became of the new text",
    }),
  },
  { $id: "ReviewOutcome" },
);

const CHOICES = {
  accepted: {
    path: "/sessions/{session_id}/transcriptions/candidate/accept",
    id: "acceptTranscription",
    summary: "Replace a session's text by the repeated transcription that waits",
    description:
      "In one step, as a redo without `review` does: claims are kept, corrections of segments are not. The same again is answered the same; 409 when it was discarded, or has become outdated, before.",
    done: "The text was replaced.",
  },
  discarded: {
    path: "/sessions/{session_id}/transcriptions/candidate/discard",
    id: "discardTranscription",
    summary: "Drop the repeated transcription that waits",
    description:
      "The text stays as it is, and the words that waited are erased. The same again is answered the same; 409 when it was accepted before.",
    done: "The repeated transcription was dropped; the text stays.",
  },
} as const;

function review(
  { directory, candidates, actors }: ReviewOptions,
  choice: keyof typeof CHOICES,
): Route {
  const { done, ...about } = CHOICES[choice];
  return defineRoute({
    method: "post",
    ...about,
    tag: "Job",
    throughActor: true,
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: sessionParams,
    body: { kind: "json", optional: true, schema: choiceBody },
    responses: {
      200: {
        description: "It is done",
        schema: reviewedSchema,
        example: { outcome: choice, message: done },
      },
    },
    errors: ["conflict"],
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.jobs"),
    async handle(request, { principal }) {
      const { session_id: sessionId } = request.params;
      const found = await candidates.find(sessionId);
      if (found === undefined || found.status === "reading") throw noneWaits(found);
      const wanted = request.body?.transcription_id;
      if (wanted !== undefined && wanted !== transcriptionId(found)) {
        throw new AppError("conflict", "Another repeated transcription waits by now.");
      }
      const { attempt } = found;
      const command = { type: "ReviewRedo", attempt, choice, byUserId: principal.id } as const;
      await actors.ask(sessionId, command, commandIdOf(request));
      return { status: 200, body: { success: true, message: done, outcome: choice } };
    },
  });
}
