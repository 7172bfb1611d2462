import { type Static, Type } from "@sinclair/typebox";
import { defineRoute, HUMAN_ROLES, type Route } from "../../rest/route.ts";
import type { LanguageModelStatus } from "../../wire/language-model.ts";
import { MOONSHINE, type SpeechEngine } from "../../wire/speech-engines.ts";

interface EngineOptions {
  engines: () => readonly SpeechEngine[];
  languageModels: () => readonly LanguageModelStatus[];
}

const engineSchema = Type.Object(
  {
    name: Type.String(),
    languages: Type.Array(Type.String(), {
      description: "Primary subtags; the first one is its default",
    }),
    streaming: Type.Boolean({ description: "Shows words while somebody speaks" }),
    word_times: Type.Boolean({
      description: "Tells when each word was said; else times are shared out over an utterance",
    }),
    punctuation: Type.Boolean({ description: "Writes capitals and sentence marks" }),
    vocabulary: Type.Boolean({ description: "Names and terms of the vocabulary become likelier" }),
    confidence_floor: Type.Optional(
      Type.Number({ description: "Words below it are `unclear`; absent: it marks none" }),
    ),
    cost_per_hour: Type.Optional(Type.String({ description: "As its operator says" })),
    model: Type.Optional(
      Type.Object(
        {
          name: Type.String({ examples: ["moonshine-tiny-en"] }),
          sha256: Type.Optional(
            Type.Record(Type.String(), Type.String(), {
              description: "SHA-256 of its files by their names; left out for another's server",
              examples: [MOONSHINE.model.sha256],
            }),
          ),
        },
        { description: "What it reads with; left out where the worker does not tell" },
      ),
    ),
    detects_language: Type.Optional(
      Type.Literal(true, { description: "Takes sessions of the language `auto`" }),
    ),
    local: Type.Boolean({
      description:
        "False: sound leaves this installation. Off for a workspace until an owner of it allows it (`remote_engines`)",
    }),
  },
  {
    $id: "Engine",
    examples: [
      {
        name: "moonshine-tiny-en",
        languages: ["en"],
        streaming: true,
        word_times: true,
        punctuation: true,
        vocabulary: true,
        confidence_floor: 0.5,
        model: MOONSHINE.model,
        local: true,
      },
    ],
  },
);

function presentEngine(engine: SpeechEngine): Static<typeof engineSchema> {
  return {
    name: engine.name,
    languages: [...engine.languages],
    streaming: engine.streaming,
    word_times: engine.wordTimes,
    punctuation: engine.punctuation,
    vocabulary: engine.vocabulary,
    confidence_floor: engine.confidenceFloor,
    cost_per_hour: engine.costPerHour,
    model: engine.model === undefined ? undefined : { ...engine.model },
    detects_language: engine.detectsLanguage === true ? true : undefined,
    local: engine.local,
  };
}

const languageModelSchema = Type.Object(
  {
    name: Type.String({ description: "As its server knows it" }),
    local: Type.Boolean({
      description:
        "False: text leaves this installation. Off for a workspace until an owner of it allows it (`remote_text`)",
    }),
    answers: Type.Boolean({
      description:
        "Whether it answered when it was asked last; while it does not, notes are made by rule",
    }),
    abilities: Type.Array(Type.Union([Type.Literal("json_schema"), Type.Literal("tools")]), {
      description:
        "What its server was found to do: answers that keep to a schema, calls of tools. Without them it is asked for plain lines",
    }),
  },
  {
    $id: "LanguageModel",
    examples: [{ name: "llama3.1:8b", local: true, answers: true, abilities: ["json_schema"] }],
  },
);

/** GET /engines. */
export function engineRoutes({ engines, languageModels }: EngineOptions): Route[] {
  const list = defineRoute({
    method: "get",
    path: "/engines",
    id: "listEngines",
    tag: "Job",
    summary: "The speech engines and language models of this installation, and what each can do",
    description:
      "Their names go into `engine` where a session starts or is recognised once more, and into a workspace's `speech_engine`.",
    auth: ["bearer", "service_key"],
    roles: HUMAN_ROLES,
    responses: {
      200: {
        description: "Every engine and model, by name",
        schema: Type.Object({
          items: Type.Array(engineSchema),
          language_models: Type.Array(languageModelSchema, {
            description: "Those that word notes; none: all notes are made by rule",
          }),
        }),
      },
    },
    async handle() {
      const items = engines()
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
        .map(presentEngine);
      const language_models = languageModels().map(({ name, local, answers, abilities }) => ({
        ...{ name, local, answers },
        abilities: [...abilities],
      }));
      return { status: 200, body: { items, language_models } };
    },
  });
  return [list];
}
