import { type Static, Type } from "@sinclair/typebox";
import { SHERPA_TYPES } from "./sherpa-types.ts";

const name = Type.String({ pattern: "^[A-Za-z0-9_.-]{1,64}$" });
const languages = Type.Array(Type.String({ pattern: "^[a-z]{2,3}$" }), {
  minItems: 1,
  maxItems: 200,
});
/** The name of the environment variable that holds a key; a key itself stands in no file. */
const keyVariable = Type.Optional(Type.String({ pattern: "^[A-Z][A-Z0-9_]{0,63}$" }));
const costPerHour = Type.Optional(Type.String({ minLength: 1, maxLength: 40 }));
const floor = Type.Optional(Type.Number({ minimum: 0, maximum: 1 }));
const exact = { additionalProperties: false } as const;

const remote = {
  name,
  model: Type.String({ minLength: 1, maxLength: 200 }),
  languages,
  key_variable: keyVariable,
  /** True only when the server is one of this installation: no sound leaves it. */
  local: Type.Optional(Type.Boolean()),
  cost_per_hour: costPerHour,
  confidence_floor: floor,
};

const moonshine = Type.Object({ kind: Type.Literal("moonshine-tiny-en") }, exact);

const openai = Type.Object(
  {
    kind: Type.Literal("openai"),
    ...remote,
    url: Type.String({ pattern: "^https?://" }),
    /** Time limit of one try, and of an utterance with all its tries, milliseconds. */
    try_ms: Type.Optional(Type.Integer({ minimum: 100, maximum: 90_000 })),
    utterance_ms: Type.Optional(Type.Integer({ minimum: 100, maximum: 90_000 })),
    retries: Type.Optional(Type.Integer({ minimum: 0, maximum: 10 })),
    /** Most requests of one worker thread at once. */
    requests: Type.Optional(Type.Integer({ minimum: 1, maximum: 64 })),
  },
  exact,
);

const deepgram = Type.Object(
  {
    kind: Type.Literal("deepgram"),
    ...remote,
    url: Type.String({ pattern: "^wss?://" }),
    utterance_ms: Type.Optional(Type.Integer({ minimum: 100, maximum: 90_000 })),
    retries: Type.Optional(Type.Integer({ minimum: 0, maximum: 10 })),
    /** How vocabulary is named in the address: `keyterm` from nova-3 on, `keywords` before. */
    vocabulary_parameter: Type.Optional(
      Type.Union([Type.Literal("keyterm"), Type.Literal("keywords")]),
    ),
  },
  exact,
);

const sherpa = Type.Object(
  {
    kind: Type.Literal("sherpa-onnx"),
    name,
    type: Type.Union(SHERPA_TYPES.map((each) => Type.Literal(each))),
    /** Where the model's files lie. */
    folder: Type.String({ minLength: 1 }),
    languages,
    /** Threads of one run; 1 by default. */
    threads: Type.Optional(Type.Integer({ minimum: 1, maximum: 64 })),
  },
  exact,
);

/** What a worker's file says of an engine, by its kind. */
export const ENGINE_SCHEMAS = {
  "moonshine-tiny-en": moonshine,
  openai,
  deepgram,
  "sherpa-onnx": sherpa,
};

export type OpenAiSettings = Static<typeof openai> & { key?: string };
export type DeepgramSettings = Static<typeof deepgram> & { key?: string };

export type SherpaSettings = Static<typeof sherpa>;

/** One engine of a worker, as its file describes it; plain data that crosses to threads. */
export type EngineSettings =
  | Static<typeof moonshine>
  | OpenAiSettings
  | DeepgramSettings
  | SherpaSettings;
