import { type Static, Type } from "@sinclair/typebox";
import { AppError, shown, toAppError } from "../base/errors.ts";
import { SUPPORTED_AUDIO } from "../conversations/recording/audio-container.ts";
import { defineRoute, type Reply, type Route } from "../rest/route.ts";
import { cutToName } from "../wire/names.ts";
import type { SpeechEngine } from "../wire/speech-engines.ts";
import { CALL_TIMEOUT_MS, type FileCall, type FileCalls } from "./file-calls.ts";
import { heldOpen, WEBVTT, WHITE_SPACE } from "./held-answer.ts";
import { deltaEvent, doneEvent, openAiAnswer, READABLE } from "./openai-answers.ts";
import { OPENAI_ERRORS } from "./openai-errors.ts";
import {
  OPENAI_MODELS,
  type OpenAiOrder,
  openAiForm,
  type ResponseFormat,
  readOpenAiForm,
} from "./openai-form.ts";
import { wrong } from "./parameters.ts";
import { requireService } from "./sessions.ts";
import { writeFinal } from "./written-finals.ts";

interface OpenAiRouteOptions {
  calls: FileCalls;
  engines: () => readonly SpeechEngine[];
}

/** What OpenAI's clients call: POST audio/transcriptions, GET models and models/{model}. */
export function openAiRoutes(options: OpenAiRouteOptions): Route[] {
  return [createTranscription(options), listModels(options), getModel(options)];
}

const TITLE = "Transcription";

function createTranscription({ calls, engines }: OpenAiRouteOptions): Route {
  return defineRoute({
    method: "post",
    path: "/compat/openai/v1/audio/transcriptions",
    id: "createOpenAiTranscription",
    tag: "Compat",
    summary: "Transcribe a file, as the clients of OpenAI ask for it",
    description: `With \`/api/compat/openai/v1\` as their base address and a service key of the scope \`transcribe\` as their API key, these clients work unchanged. ${SUPPORTED_AUDIO} Recordings of any length are taken, up to the size of an upload. Each call is a session of the key's workspace, marked \`compat\`, and is kept as the workspace's retention says; with \`store=false\` it is deleted once it is answered, or its caller has gone. A caller that goes stops its session. Parameters that take words out or send the answer elsewhere are refused; others without an effect are named in the \`Warning\` header. An answer that takes longer than 20 s begins with white space (\`vtt\` with its first line), so that no proxy or client gives up; an error after that ends the connection.`,
    auth: ["compat_key"],
    dialect: OPENAI_ERRORS,
    timeoutMs: CALL_TIMEOUT_MS,
    body: { kind: "upload", form: openAiForm, mediaTypes: [] },
    responses: {
      200: {
        description: "What was said, in the form of `response_format`; with `stream` as events",
        schema: openAiAnswer,
        mediaTypes: ["text/plain", "application/x-subrip", "text/vtt", "text/event-stream"],
      },
    },
    errors: [
      "not_audio",
      "not_found",
      "invalid_parameter",
      "quota_exceeded",
      "conflict",
      "language_unsupported",
    ],
    refusesUpload: (head, mediaType) => calls.refusalByHead(head, mediaType),
    async handle({ principal, upload, signal }) {
      const caller = requireService(principal);
      if (upload === undefined || Object.keys(upload.fields).length === 0) {
        throw new AppError(
          "invalid_body",
          "Send a multipart form with the audio in `file`, and with `model`.",
        );
      }
      const order = readOpenAiForm(upload.fields, engines());
      const { engine, language, store, warning } = order;
      const title = cutToName(upload.filename, 200) || TITLE;
      const asked = { interface: "openai" as const, title, vocabulary: [] };
      const wanted = { ...asked, engine, language, store };
      const call = await calls.begin(caller, upload, wanted, signal);
      const reply = order.stream ? eventReply(call) : await wholeReply(call, order, signal);
      if (warning !== undefined) reply.headers = { ...reply.headers, warning };
      return reply;
    },
  });
}

const MEDIA_TYPES: Readonly<Record<ResponseFormat, string>> = {
  json: "application/json; charset=utf-8",
  verbose_json: "application/json; charset=utf-8",
  diarized_json: "application/json; charset=utf-8",
  text: "text/plain; charset=utf-8",
  srt: "application/x-subrip; charset=utf-8",
  vtt: "text/vtt; charset=utf-8",
};

function wholeReply(
  call: FileCall,
  { format, granularities }: OpenAiOrder,
  signal: AbortSignal,
): Promise<Reply> {
  const contentType = MEDIA_TYPES[format];
  const lead = format === "vtt" ? WEBVTT : WHITE_SPACE;
  const form = { dialect: "openai", format, granularities, writing: READABLE } as const;
  return heldOpen(call, { contentType, lead, form }, signal);
}

function eventReply(call: FileCall): Reply {
  return {
    status: 200,
    headers: { "content-type": "text/event-stream; charset=utf-8" },
    events: { open: (signal) => events(call, signal) },
  };
}

async function* events(call: FileCall, signal: AbortSignal): AsyncGenerator<string> {
  // At once, so that the caller knows that it is being worked on.
  yield ": transcribing\n\n";
  let text = "";
  try {
    for await (const final of call.read(signal)) {
      if (final === undefined) yield ": still transcribing\n\n";
      else {
        const written = writeFinal(final, READABLE, call.session);
        const delta = text === "" ? written.text : ` ${written.text}`;
        text += delta;
        yield deltaEvent(delta);
      }
    }
    yield doneEvent(text, call.durationSeconds);
  } catch (error) {
    // The answer has begun: what went wrong is told in it.
    yield `data: ${JSON.stringify(OPENAI_ERRORS.body(toAppError(error), ""))}\n\n`;
  }
}

const modelSchema = Type.Object(
  {
    id: Type.String({
      minLength: 1,
      description: "Its name, for `model`",
      examples: ["whisper-1"],
    }),
    object: Type.Literal("model", { description: "What it is" }),
    created: Type.Integer({ description: "Always 0: not known", examples: [0] }),
    owned_by: Type.String({
      description:
        "`installation`: an engine of this installation; `openai`: stands for the workspace's own engine",
      examples: ["installation"],
    }),
  },
  { $id: "OpenAiModel", description: "A name for `model`" },
);

function modelsOf(engines: readonly SpeechEngine[]): Static<typeof modelSchema>[] {
  const present = (id: string, owned_by: string) => {
    return { id, object: "model", created: 0, owned_by } as const;
  };
  const own = engines.map(({ name }) => present(name, "installation"));
  return [...own, ...OPENAI_MODELS.map((id) => present(id, "openai"))];
}

function listModels({ engines }: OpenAiRouteOptions): Route {
  return defineRoute({
    method: "get",
    path: "/compat/openai/v1/models",
    id: "listOpenAiModels",
    tag: "Compat",
    summary: "What may stand in `model`, as the clients of OpenAI ask for it",
    auth: ["compat_key"],
    dialect: OPENAI_ERRORS,
    responses: {
      200: {
        description: "Engines of this installation, and names that stand for the workspace's own",
        schema: Type.Object({
          object: Type.Literal("list", { description: "What it is" }),
          data: Type.Array(modelSchema, { description: "All of them" }),
        }),
      },
    },
    async handle() {
      return { status: 200, body: { object: "list", data: modelsOf(engines()) } };
    },
  });
}

function getModel({ engines }: OpenAiRouteOptions): Route {
  return defineRoute({
    method: "get",
    path: "/compat/openai/v1/models/{model}",
    id: "getOpenAiModel",
    tag: "Compat",
    summary: "One of them",
    auth: ["compat_key"],
    dialect: OPENAI_ERRORS,
    params: Type.Object({
      model: Type.String({
        description: "A name of the list",
        maxLength: 100,
        examples: ["whisper-1"],
      }),
    }),
    etag: false,
    responses: { 200: { description: "It is there", schema: modelSchema } },
    async handle({ params }) {
      const found = modelsOf(engines()).find(({ id }) => id === params.model);
      if (found !== undefined) return { status: 200, body: found };
      throw wrong("model", `there is no "${shown(params.model)}" here.`, "not_found");
    },
  });
}
