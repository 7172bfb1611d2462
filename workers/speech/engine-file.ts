import { readFileSync } from "node:fs";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Ajv } from "ajv";
import { errorMessage } from "../../src/base/errors.ts";
import type { Environment } from "../../src/base/settings.ts";
import { ENGINE_SCHEMAS, type EngineSettings } from "./engine-schemas.ts";
import { nameOfEngine } from "./engine-settings.ts";

const file = Type.Object(
  { engines: Type.Array(Type.Unknown(), { minItems: 1, maxItems: 16 }) },
  { additionalProperties: false },
);

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
      const known = Object.keys(ENGINE_SCHEMAS).join(", ");
      problems.push(`SPEECH_ENGINES_FILE: ${where}: kind must be one of ${known}.`);
      continue;
    }
    const faults = faultsOf(ajv, ENGINE_SCHEMAS[kind], each, where);
    problems.push(...faults);
    if (faults.length === 0) engines.push(withKey(each as EngineSettings, env, where, problems));
  }
  problems.push(...doubles(engines));
  return problems.length > 0 ? { problems } : { engines };
}

function isKind(kind: string): kind is keyof typeof ENGINE_SCHEMAS {
  return Object.hasOwn(ENGINE_SCHEMAS, kind);
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
