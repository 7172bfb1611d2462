import { type Static, Type } from "@sinclair/typebox";
import { toSeconds } from "../../base/audio/sample-rate.ts";
import { toTimestamp } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { derivedId } from "../../base/ids.ts";
import { commandIdOf } from "../../rest/idempotency.ts";
import { defineRoute, PEOPLE, type Route } from "../../rest/route.ts";
import { timestamp } from "../../rest/schemas.ts";
import { NONE_WAITS } from "../../session/decide-reread.ts";
import type { SessionActors } from "../context.ts";
import { requireSession } from "../sessions/access.ts";
import { sessionParams } from "../sessions/schema.ts";
import type { SessionStore } from "../sessions/store.ts";
import type { CandidateStore } from "./candidates-store.ts";
import { diffWords, type SpokenWord, type WordDiff } from "./word-diff.ts";

interface ReviewOptions {
  directory: SessionStore;
  candidates: CandidateStore;
  actors: SessionActors;
}

type Found = NonNullable<Awaited<ReturnType<CandidateStore["find"]>>>;

/** GET /sessions/{id}/transcriptions/candidate, POST …/accept and …/discard. */
export function reviewRoutes(options: ReviewOptions): Route[] {
  return [compare(options), review(options, "accepted"), review(options, "discarded")];
}

const side = Type.Object(
  {
    text: Type.String(),
    speakers: Type.Array(Type.String(), { description: "Labels, in order" }),
  },
  { $id: "ComparedText" },
);

const words = (description: string) => Type.Integer({ minimum: 0, description });

const diffSchema = Type.Object(
  {
    session_id: Type.String(),
    job_id: Type.String(),
    transcription_id: Type.String(),
    engine: Type.Optional(Type.String()),
    detected_language: Type.Optional(Type.String()),
    created_at: timestamp,
    expires_at: timestamp,
    edits_replaced: Type.Integer({
      description: "So many segments that people edited would be replaced",
    }),
    counts: Type.Object(
      {
        same: words("Words that both texts have, with the same speaker"),
        speaker_changed: words("Words that both texts have, with another speaker"),
        replaced: words("Words in whose place stands another one"),
        added: words("Words that only the candidate has"),
        removed: words("Words that only the text that stands has"),
      },
      {
        description: "Words of each fate",
        examples: [{ same: 6, speaker_changed: 0, replaced: 0, added: 0, removed: 0 }],
      },
    ),
    speakers: Type.Array(
      Type.Object({
        current: Type.String({ description: "Label in the text that stands" }),
        candidate: Type.String({ description: "Label in the new text" }),
        words: Type.Integer({ description: "Number of words", examples: [6] }),
      }),
      { description: "Which speakers' words became whose, most words first" },
    ),
    parts: Type.Array(
      Type.Object({
        kind: Type.Union(
          (["same", "speaker", "replaced", "added", "removed"] as const).map((kind) =>
            Type.Literal(kind),
          ),
        ),
        start: Type.Number({ description: "Seconds" }),
        end: Type.Number({ description: "Seconds" }),
        current: Type.Optional(side),
        candidate: Type.Optional(side),
      }),
      { description: "Both texts from beginning to end, in runs of words of the same fate" },
    ),
  },
  { $id: "TranscriptComparison" },
);

function compare({ directory, candidates }: ReviewOptions): Route {
  return defineRoute({
    method: "get",
    path: "/sessions/{session_id}/transcriptions/candidate",
    id: "compareTranscription",
    tag: "Job",
    summary: "What a repeated transcription that waits would change, word by word",
    description:
      "Of a redo that was asked for with `review`, by the session's owner or an administrator with access to its content. Words correspond by time and text; case and marks make no other word. 404 as long as it is being read, and once it was accepted, discarded or replaced by a later redo.",
    auth: ["bearer"],
    roles: PEOPLE,
    params: sessionParams,
    responses: { 200: { description: "The comparison", schema: diffSchema } },
    errors: ["elevation_required"],
    async resolve({ principal, params }) {
      await requireSession(directory, principal, params.session_id, "session.jobs");
      return requireSession(directory, principal, params.session_id, "session.content");
    },
    async handle({ params: { session_id: sessionId } }) {
      const found = await candidates.find(sessionId);
      if (found?.status !== "waiting") throw noneWaits(found);
      const texts = await candidates.texts(sessionId, found.attempt);
      if (texts === undefined) throw new AppError("not_found", NONE_WAITS);
      const diff = diffWords(texts.current, texts.candidate);
      return { status: 200, body: presentDiff(sessionId, found, diff) };
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

function presentDiff(
  sessionId: string,
  found: Found,
  { counts, speakers, parts }: WordDiff,
): Static<typeof diffSchema> {
  const { speaker: speaker_changed, ...others } = counts;
  return {
    session_id: sessionId,
    job_id: found.jobId,
    transcription_id: transcriptionId(found),
    engine: found.engine,
    detected_language: found.detectedLanguage,
    created_at: toTimestamp(found.at),
    expires_at: toTimestamp(found.expiresAt),
    edits_replaced: found.edits,
    counts: { ...others, speaker_changed },
    speakers,
    parts: parts.map(({ kind, current, candidate }) => {
      const all = [...current, ...candidate];
      return {
        kind,
        start: toSeconds(Math.min(...all.map(({ start }) => start))),
        end: toSeconds(Math.max(...all.map(({ end }) => end))),
        current: presentSide(current),
        candidate: presentSide(candidate),
      };
    }),
  };
}

function presentSide(said: readonly SpokenWord[]): Static<typeof side> | undefined {
  if (said.length === 0) return undefined;
  const speakers = [...new Set(said.map(({ speaker }) => speaker))];
  return { text: said.map(({ text }) => text).join(" "), speakers };
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
    wish: true,
    auth: ["bearer"],
    roles: PEOPLE,
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
