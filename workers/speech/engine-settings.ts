import { readFileSync } from "node:fs";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Ajv } from "ajv";
import { errorMessage } from "../../src/base/errors.ts";
import type { Environment } from "../../src/base/settings.ts";
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
  },
  exact,
);

const file = Type.Object(
  { engines: Type.Array(Type.Unknown(), { minItems: 1, maxItems: 16 }) },
  exact,
);

const KINDS = { "moonshine-tiny-en": moonshine, openai, deepgram, "sherpa-onnx": sherpa };

export type OpenAiSettings = Static<typeof openai> & { key?: string };
export type DeepgramSettings = Static<typeof deepgram> & { key?: string };

export type SherpaSettings = Static<typeof sherpa>;

/** One engine of a worker, as its file describes it; plain data that crosses to threads. */
export type EngineSettings =
  | Static<typeof moonshine>
  | OpenAiSettings
  | DeepgramSettings
  | SherpaSettings;

/** The engines where no file names others. */
export const DEFAULT_ENGINES: readonly EngineSettings[] = [{ kind: "moonshine-tiny-en" }];

/** The name by which the engine is chosen. */
export function nameOfEngine(settings: EngineSettings): string {
  return settings.kind === "moonshine-tiny-en" ? settings.kind : settings.name;
}

/**
 * Reads the file that describes a worker's engines. Returns the engines, or all problems, each a
 * sentence that says where it is.
 */
export function readEngines(
  path: string,
  env: Environment,
): { engines: EngineSettings[] } | { problems: string[] } {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    return { problems: [`SPEECH_ENGINES_FILE: ${path} cannot be read: ${errorMessage(error)}.`] };
  }
  return parseEngines(value, env);
}

/** Checks the content of the file. */
export function parseEngines(
  value: unknown,
  env: Environment,
): { engines: EngineSettings[] } | { problems: string[] } {
  const ajv = new Ajv({ allErrors: true, strict: true });
  const problems = faultsOf(ajv, file, value, "the file");
  if (problems.length > 0) return { problems };
  const engines: EngineSettings[] = [];
  for (const [at, each] of (value as Static<typeof file>).engines.entries()) {
    const kind = (each as { kind?: unknown } | null)?.kind;
    const where = `engines[${at}]`;
    if (typeof kind !== "string" || !isKind(kind)) {
      const known = Object.keys(KINDS).join(", ");
      problems.push(`SPEECH_ENGINES_FILE: ${where}: kind must be one of ${known}.`);
      continue;
    }
    const faults = faultsOf(ajv, KINDS[kind], each, where);
    problems.push(...faults);
    if (faults.length === 0) engines.push(withKey(each as EngineSettings, env, where, problems));
  }
  problems.push(...doubles(engines));
  return problems.length > 0 ? { problems } : { engines };
}

function isKind(kind: string): kind is keyof typeof KINDS {
  return Object.hasOwn(KINDS, kind);
}

function faultsOf(ajv: Ajv, schema: TSchema, value: unknown, where: string): string[] {
  if (ajv.validate(schema, value)) return [];
  return (ajv.errors ?? []).map(({ instancePath, message, params }) => {
    const extra = (params as { additionalProperty?: string }).additionalProperty;
    const what = extra === undefined ? "" : ` ("${extra}")`;
    return `SPEECH_ENGINES_FILE: ${where}${instancePath.replaceAll("/", ".")} ${message}${what}.`;
  });
}

/** The engine with its key, which stands in the environment. */
function withKey(
  engine: EngineSettings,
  env: Environment,
  where: string,
  problems: string[],
): EngineSettings {
  if (!("key_variable" in engine) || engine.key_variable === undefined) return engine;
  const key = env[engine.key_variable];
  if (key === undefined || key === "") {
    problems.push(
      `SPEECH_ENGINES_FILE: ${where} takes its key from ${engine.key_variable}, which is not set.`,
    );
    return engine;
  }
  return { ...engine, key };
}

function doubles(engines: readonly EngineSettings[]): string[] {
  const names = engines.map(nameOfEngine);
  const twice = [...new Set(names.filter((each, at) => names.indexOf(each) !== at))];
  return twice.map((each) => `SPEECH_ENGINES_FILE: there are several engines called "${each}".`);
}
