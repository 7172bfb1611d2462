import { type Static, Type } from "@sinclair/typebox";
import { AppError } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import { assertLanguage, assertMayRead, noneKnows } from "../../inference/engine-choice.ts";
import { requirePrincipal } from "../../rest/callers.ts";
import { commandIdOf } from "../../rest/idempotency.ts";
import {
  acknowledge,
  acknowledged,
  defineRoute,
  type Request,
  type Route,
} from "../../rest/route.ts";
import { knowsLanguage, LANGUAGE_PATTERN, type SpeechEngine } from "../../wire/speech-engines.ts";
import { vocabularySchema } from "../../wire/vocabulary.ts";
import type { SessionActors } from "../context.ts";
import { engineName } from "../sessions/schema.ts";
import type { TranscriptionJob, TranscriptionJobStore } from "./jobs-store.ts";

export interface RedoOptions {
  jobs: Pick<TranscriptionJobStore, "get" | "prepareRedo" | "sessionOf">;
  actors: SessionActors;
  /** Engines that can be chosen by name. */
  engines: () => readonly SpeechEngine[];
}

/** Options of the next reading. */
export const redoBody = Type.Object(
  {
    forced_language: Type.Optional(Type.String({ pattern: LANGUAGE_PATTERN })),
    engine: Type.Optional(engineName),
    vocabulary: Type.Optional(
      vocabularySchema(
        "Words and phrases that this reading and later ones expect, in place of those of the session",
      ),
    ),
    review: Type.Optional(
      Type.Boolean({
        description:
          "The result does not replace the text: it waits, for 7 days, to be compared and then accepted or discarded under /sessions/{session_id}/transcriptions/candidate. One waits for each session; any later redo takes its place. 409 for a session without words",
      }),
    ),
  },
  { $id: "RedoRequest", examples: [{ vocabulary: ["Rüti", "Kubernetes"] }] },
);

type RedoBody = Static<typeof redoBody> | undefined;

/**
 * Queues another reading of the job's session. Returns the number of segments edited by people that
 * it will replace. Throws `invalid_body` for an engine that is not available,
 * `language_unsupported`,
 * `job_active` while the job is queued or running, `conflict` when there is no audio,
 * `session_deleted`.
 */
export async function requestRedo(
  { jobs, actors, engines }: RedoOptions,
  job: TranscriptionJob,
  { body, ...request }: Pick<Request, "commandId"> & { body: RedoBody },
  byUserId: string,
): Promise<number> {
  const { forced_language: forcedLanguage, engine, vocabulary } = body ?? {};
  const { sessionId } = job;
  const session = sessionId === undefined ? undefined : await jobs.sessionOf(sessionId);
  if (sessionId === undefined || session === undefined) throw audioDeleted();
  assertReadable(engines(), { forcedLanguage, engine }, session);
  const type = body?.review === true ? "RedoForReview" : "Redo";
  const ask = async (): Promise<number> =>
    editsOf(await actors.ask(sessionId, { type, byUserId }, commandIdOf(request)));
  if (job.status === "queued" || job.status === "running") {
    // A repetition of the same command may find the job that it started; the session's actor knows.
    if (request.commandId !== undefined) return ask();
    throw new AppError("job_active", "This job is queued or running already.");
  }
  // The reading looks at its options when it begins.
  await jobs.prepareRedo(job.id, { forcedLanguage, engine, vocabulary });
  try {
    return await ask();
  } catch (error) {
    if (error instanceof AppError && error.code === "not_found") throw audioDeleted();
    throw error;
  }
}

/** Throws `invalid_body`, `language_unsupported` or `forbidden` unless an engine may read the session in this language. */
function assertReadable(
  engines: readonly SpeechEngine[],
  { forcedLanguage, engine }: { forcedLanguage?: string; engine?: string },
  { language, mayLeave }: { language: string; mayLeave: boolean },
): void {
  const wanted = forcedLanguage ?? language;
  assertLanguage(engines, wanted);
  assertMayRead(engines, { asked: engine, language: wanted, mayLeave });
  const able = engines.filter((each) => (each.local || mayLeave) && knowsLanguage(each, wanted));
  if (able.length > 0) return;
  throw new AppError("language_unsupported", noneKnows(engines, wanted));
}

/** POST /admin/jobs/transcriptions/{job_id}/redo. */
export function redoRoutes(options: RedoOptions): Route[] {
  const redo = defineRoute({
    method: "post",
    path: "/admin/jobs/transcriptions/{job_id}/redo",
    id: "redoTranscription",
    tag: "Admin",
    throughActor: true,
    summary: "Recognise a session's stored audio once more",
    description:
      "The job keeps its id, and the text that stands stays until the new one replaces it in one step. Claims are kept; corrections of segments are not, and the message tells how many will be replaced. With `review` the result waits instead, until it is accepted or discarded. 409 as well when the session has no audio at all.",
    auth: ["bearer"],
    roles: ["admin"],
    params: Type.Object({ job_id: Type.String({ description: "UUID of the job" }) }),
    body: { kind: "json", optional: true, schema: redoBody },
    responses: { 200: acknowledged(redoSentence(0, false)) },
    errors: ["job_active", "session_deleted", "conflict", "language_unsupported"],
    async resolve({ params }): Promise<TranscriptionJob> {
      const job = isId(params.job_id) ? await options.jobs.get(params.job_id) : undefined;
      if (job === undefined) {
        throw new AppError("not_found", "There is no transcription job with this id.");
      }
      return job;
    },
    async handle(request, job) {
      const edits = await requestRedo(
        options,
        job,
        request,
        requirePrincipal(request.principal).id,
      );
      return acknowledge(redoSentence(edits, request.body?.review === true));
    },
  });
  return [redo];
}

/** The number of replaced edits. Actors of earlier releases do not report it. */
function editsOf(answer: unknown): number {
  const edits = (answer as { edits?: unknown } | undefined)?.edits;
  return typeof edits === "number" ? edits : 0;
}

function redoSentence(edits: number, isReviewed: boolean): string {
  const queued = "The session is being recognised once more.";
  if (isReviewed) return `${queued} The result will wait to be accepted or discarded.`;
  if (edits === 0) return queued;
  return `${queued} ${edits === 1 ? "1 edited segment" : `${edits} edited segments`} will be replaced.`;
}

function audioDeleted(): AppError {
  return new AppError("session_deleted", "This session's audio was deleted.");
}
