/**
 * A speech engine, as workers announce it. What an engine is and can do is told here and nowhere
 * else: requests, health, lists and readings look it up.
 */
export interface SpeechEngine {
  /** As people choose it: letters, digits, `-`, `_` and `.`; at most 64. */
  name: string;
  /** Primary subtags of the languages that it recognises; the first one is the default. */
  languages: readonly [string, ...string[]];
  /** What it reads with; absent where the worker does not tell. */
  model?: EngineModel | undefined;
  /** Finds out by itself which of them is spoken: takes sessions of the language `auto`. */
  detectsLanguage?: boolean;
  /** Shows words while somebody speaks; others give the words of an utterance at its end. */
  streaming: boolean;
  /** Tells when each word was said; of others the times are shared out over the utterance. */
  wordTimes: boolean;
  /** Writes capitals and sentence marks. */
  punctuation: boolean;
  /** Names and terms of a session's vocabulary become likelier. */
  vocabulary: boolean;
  /** Words of less confidence, 0..1, were probably misheard; absent: no word is marked. */
  confidenceFloor?: number;
  /** What an hour of audio costs at whoever runs the engine, as its operator says, e.g. "0.26 USD". */
  costPerHour?: string;
  /** False when sound leaves the machines of this installation. */
  local: boolean;
}

/** The model of an engine. */
interface EngineModel {
  name: string;
  /** SHA-256 of its files by their names, hexadecimal; absent for a model of another's server. */
  sha256?: Readonly<Record<string, string>>;
}

/** The engine that every worker has unless it is told otherwise. */
export const MOONSHINE = {
  name: "moonshine-tiny-en",
  languages: ["en"],
  streaming: true,
  wordTimes: true,
  punctuation: true,
  vocabulary: true,
  confidenceFloor: 0.5,
  local: true,
  model: {
    name: "moonshine-tiny-en",
    sha256: {
      "frontend.onnx": "09bff3eb330f1b47060071696736b8eb908d26aa617cc05b0576d7779f3a5a87",
      "encoder.onnx": "dad7d0f1f9f436e4c7cac8b10ebe86378daf3216083f4762b2fb73a8e0143fea",
      "decoder.onnx": "f781c40a60abbf00c8b7ee3373cce3b5ab5f6b9716bcf623adb4027085cb100d",
      "tokenizer.bin": "6884b35fd6377d4c4d32336a0bc152f36b64d1e45b6503683cdc238250a8472d",
    },
  },
} as const satisfies SpeechEngine;

/** What stands for the engines until the first worker was heard: nobody knows what they read. */
export const UNHEARD: readonly SpeechEngine[] = [MOONSHINE];

const NAME = /^[\p{L}\p{N}_.-]{1,64}$/u;
const LANGUAGE = /^[a-z]{2,3}$/;
const MOST_LANGUAGES = 200;
const LONGEST_COST = 40;
const LONGEST_MODEL = 200;
const MOST_FILES = 20;
const SHA256 = /^[0-9a-f]{64}$/;

export function isEngineName(value: unknown): value is string {
  return typeof value === "string" && NAME.test(value);
}

/** The description in what a worker sent; undefined when it is none. */
export function trySpeechEngine(value: unknown): SpeechEngine | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const fields = value as Record<keyof SpeechEngine, unknown>;
  const { name, languages, streaming, wordTimes, punctuation, vocabulary, local } = fields;
  const { confidenceFloor, costPerHour, detectsLanguage } = fields;
  const model = tryModel(fields.model);
  if (!isEngineName(name) || !isLanguages(languages)) return undefined;
  if (!isSwitch(streaming) || !isSwitch(wordTimes) || !isSwitch(punctuation)) return undefined;
  if (!isSwitch(vocabulary) || !isSwitch(local)) return undefined;
  if (confidenceFloor !== undefined && !isShare(confidenceFloor)) return undefined;
  if (costPerHour !== undefined && !isCost(costPerHour)) return undefined;
  return {
    ...{ name, languages, streaming, wordTimes, punctuation, vocabulary, local },
    ...(model === undefined ? {} : { model }),
    ...(detectsLanguage === true ? { detectsLanguage } : {}),
    ...(confidenceFloor === undefined ? {} : { confidenceFloor }),
    ...(costPerHour === undefined ? {} : { costPerHour }),
  };
}

/** The model in what a worker sent; undefined when it is none. */
function tryModel(value: unknown): EngineModel | undefined {
  const { name, sha256 } = (value ?? {}) as Record<keyof EngineModel, unknown>;
  if (typeof name !== "string" || name === "" || name.length > LONGEST_MODEL) return undefined;
  if (typeof sha256 !== "object" || sha256 === null) return { name };
  const files = Object.entries(sha256).flatMap(([file, sum]: [string, unknown]) =>
    typeof sum === "string" && SHA256.test(sum) && isEngineName(file) ? [[file, sum] as const] : [],
  );
  return { name, sha256: Object.fromEntries(files.slice(0, MOST_FILES)) };
}

/** The primary subtag of a BCP 47 tag, in lower case: `pt` for `pt-BR`. */
export function primaryLanguage(tag: string): string {
  return tag.split("-")[0]?.toLowerCase() ?? "";
}

/** The language of a session whose engine finds out what is spoken. */
export const AUTO = "auto";
/** A language that a request names: a BCP 47 tag, or `auto`. */
export const LANGUAGE_PATTERN = "^(auto|[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*)$";

/** Whether the engine recognises the language of a BCP 47 tag; an empty tag is its default. */
export function knowsLanguage(engine: SpeechEngine, tag: string): boolean {
  if (tag === AUTO) return engine.detectsLanguage === true;
  const { languages } = engine;
  return tag === "" || languages.includes(primaryLanguage(tag));
}

function isLanguages(value: unknown): value is [string, ...string[]] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_LANGUAGES) return false;
  return value.every((each) => typeof each === "string" && LANGUAGE.test(each));
}

function isSwitch(value: unknown): value is boolean {
  return typeof value === "boolean";
}

function isShare(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= 1;
}

function isCost(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= LONGEST_COST;
}
