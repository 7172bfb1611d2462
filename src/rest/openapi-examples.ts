import { createHash } from "node:crypto";
import type { Json, JsonObject } from "./openapi-schemas.ts";

/** What members are usually called, with a value as it might be. */
const BY_NAME: Readonly<Record<string, Json>> = {
  at: "2026-01-31T09:30:00.000Z",
  audio_finalised: 10.2,
  audio_received: 12.4,
  answer: "The budget was raised by ten per cent [1].",
  api_key: "vsd_3q2-7wAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
  avg_confidence: 0.93,
  battery_percent: 87,
  category: "accuracy",
  code: "BCDF-GHJK",
  confidence: 0.93,
  description: "Runs the workshop and keeps the time.",
  detected_language: "en",
  device_serial: "SN-000123",
  display_name: "Anna",
  duration: 1.7,
  email: "anna@example.org",
  end: 2.9,
  end_ms: 2900,
  engine: "pocketsphinx",
  error: "",
  filename: "chunk-0.wav",
  firmware: "1.4.2",
  forced_language: "en",
  lag_ms: 180,
  language: "en",
  message: "Done.",
  model: "recorder-2",
  name: "Anna Brown",
  next_cursor: null,
  note: "The name was misheard.",
  password: "correct horse battery staple",
  preferred_language: "en",
  progress: 1,
  query: "What was decided about the budget?",
  reason: "A participant reported a wrong name in the minutes.",
  rssi_dbm: -61,
  sample_rate: 16_000,
  seq: 42,
  speaker: "S1",
  speaker_label: "S1",
  start: 1.2,
  start_ms: 1200,
  success: true,
  summary_text: "The budget was raised by ten per cent.",
  text: "Let us begin with the budget.",
  title: "Weekly planning",
  token: "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
  tools_used: ["search_segments"],
  transcript: "let us begin with the budget",
  transcription_text: "Let us begin with the budget.",
  url: "https://hooks.example.org/voice",
  version: "1.0.0",
  vocabulary: ["budget"],
  word: "budget",
};

const BY_FORMAT: Readonly<Record<string, Json>> = {
  "date-time": "2026-01-31T09:30:00.000Z",
  email: "anna@example.org",
  uri: "https://hooks.example.org/voice",
  uuid: exampleId("id"),
};

/** The id that stands in examples wherever a member of this name does. */
export function exampleId(name: string): string {
  const hex = createHash("sha256").update(name).digest("hex");
  return `019c1234-5678-7abc-8def-${hex.slice(0, 12)}`;
}

/**
 * A value that the schema takes: its own example where it has one, else one
 * made of its parts. Undefined where a schema says too little.
 */
export function exampleOf(schema: unknown, name = ""): Json | undefined {
  if (typeof schema !== "object" || schema === null) return undefined;
  const given = schema as Readonly<Record<string, Json | undefined>>;
  const own = firstOf(given.examples) ?? given.const ?? given.default ?? firstOf(given.enum);
  if (own !== undefined) return own;
  const branches = given.anyOf ?? given.oneOf;
  if (Array.isArray(branches)) return branchExample(branches, name);
  if (Array.isArray(given.allOf)) return mergedExample(given.allOf);
  if (given.type === "object") return objectExample(given);
  if (given.type === "array") return arrayExample(given, name);
  return plainExample(given, name);
}

function firstOf(values: Json | undefined): Json | undefined {
  return Array.isArray(values) ? values[0] : undefined;
}

/** `next_cursor` and the like are null where they may be. */
function branchExample(branches: readonly Json[], name: string): Json | undefined {
  const usual = BY_NAME[name];
  if (usual !== undefined && branches.some((branch) => fits(branch, usual))) return usual;
  return exampleOf(branches[0], name);
}

function fits(branch: Json, value: Json): boolean {
  if (typeof branch !== "object" || branch === null || Array.isArray(branch)) return false;
  if (branch.const !== undefined || branch.enum !== undefined) return branch.const === value;
  return branch.type === (value === null ? "null" : typeof value);
}

function mergedExample(parts: readonly Json[]): JsonObject {
  return Object.assign({}, ...parts.map((part) => exampleOf(part)));
}

function objectExample({ properties }: Readonly<Record<string, Json | undefined>>): JsonObject {
  const example: JsonObject = {};
  for (const [name, schema] of Object.entries(properties ?? {})) {
    const value = exampleOf(schema, name);
    if (value !== undefined) example[name] = value;
  }
  return example;
}

function arrayExample(
  { items, minItems }: Readonly<Record<string, Json | undefined>>,
  name: string,
): Json {
  const usual = BY_NAME[name];
  if (Array.isArray(usual)) return usual;
  const item = exampleOf(items, name.replace(/s$/, ""));
  if (item === undefined) return [];
  return Array.from({ length: Math.max(1, Number(minItems ?? 1)) }, () => item);
}

function plainExample(
  schema: Readonly<Record<string, Json | undefined>>,
  name: string,
): Json | undefined {
  const usual = BY_NAME[name];
  if (schema.type === "string") {
    return typeof usual === "string" ? usual : textExample(schema, name);
  }
  if (schema.type === "boolean") return typeof usual === "boolean" ? usual : false;
  if (schema.type === "null") return null;
  if (schema.type !== "number" && schema.type !== "integer") return undefined;
  if (typeof usual === "number") return usual;
  const lowest = Number(schema.minimum ?? schema.exclusiveMinimum ?? 0);
  return Math.min(Math.max(1, lowest), Number(schema.maximum ?? Number.POSITIVE_INFINITY));
}

function textExample(schema: Readonly<Record<string, Json | undefined>>, name: string): string {
  const formatted = BY_FORMAT[String(schema.format)];
  if (name === "id" || name.endsWith("_id")) return exampleId(name);
  if (typeof formatted === "string") return formatted;
  if (name.endsWith("_at") || name.endsWith("_time")) return "2026-01-31T09:30:00.000Z";
  if (name.endsWith("_url")) return "https://voice.example.org/";
  if (name.endsWith("_token") || name.endsWith("secret")) return "c2VjcmV0LXNlY3JldC1zZWNyZXQ";
  return (name || "text").padEnd(Number(schema.minLength ?? 0), "x");
}
