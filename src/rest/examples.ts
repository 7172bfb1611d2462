import { createHash } from "node:crypto";
import type { JsonObject } from "./schema-printer.ts";

type Json = JsonObject[string];

/** Example values by member name. */
const BY_NAME: Readonly<Record<string, Json>> = {
  address: "10.0.0.7:50061",
  addresses: ["203.0.113.7"],
  alg: "EdDSA",
  aliases: ["The budget"],
  answer: "The budget was raised by ten per cent [1].",
  api_key: "vsd_3q2-7wAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
  asyncapi: "3.0.0",
  at: "2026-01-31T09:30:00.000Z",
  audio_finalised: 10.2,
  audio_received: 12.4,
  avg_confidence: 0.93,
  battery_percent: 87,
  candidate: "S2",
  category: "accuracy",
  code: "BCDF-GHJK",
  confidence: 0.93,
  created_by: exampleId("created_by"),
  crv: "Ed25519",
  current: "S1",
  current_password: "correct horse battery staple",
  deletion_event_kind: "session_deleted_by_owner",
  description: "Runs the workshop and keeps the time.",
  detected_language: "en",
  device_serial: "SN-000123",
  diarisation_model_version: "voices-2",
  display_name: "Anna",
  due: "by Friday",
  duration: 1.7,
  email: "anna@example.org",
  end: 2.9,
  end_ms: 2900,
  engine: "pocketsphinx",
  error: "",
  filename: "chunk-0.wav",
  firmware: "1.4.2",
  forced_language: "en",
  free_name: "Anna",
  from: "S2",
  handled_by: exampleId("handled_by"),
  hash: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  into: "S1",
  invited_by: exampleId("invited_by"),
  key: "vss_3q2-7wAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
  kid: "2026-01",
  kty: "OKP",
  label: "budget, website",
  lag_ms: 180,
  language: "en",
  message: "Done.",
  method: "supervector-1",
  model: "recorder-2",
  name: "Anna Brown",
  new_password: "seven quiet rivers at dawn",
  next_cursor: null,
  node: "main-1",
  note: "The name was misheard.",
  openapi: "3.1.0",
  owner: "Anna",
  password: "correct horse battery staple",
  preferred_language: "en",
  previous_hash: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  print: "AAECAwQFBgcICQ==",
  problem: "The entry was changed after it was written.",
  progress: 1,
  query: "What was decided about the budget?",
  readable_text: "Let us begin with the budget.",
  reason: "A participant reported a wrong name in the minutes.",
  resolution: "The name was corrected.",
  rssi_dbm: -61,
  sample_rate: 16_000,
  section: "Budget",
  seq: 42,
  speaker: "S1",
  speaker_confidence: 0.87,
  speaker_label: "S1",
  speaker_name: "Anna",
  speech_engine: "pocketsphinx",
  start: 1.2,
  start_ms: 1200,
  success: true,
  suggested_names: ["Anna"],
  summary_text: "The budget was raised by ten per cent.",
  text: "Let us begin with the budget.",
  ticket: "c2luZ2xlLXVzZS1mb3ItMzAtcw",
  timestamp: "2026-01-31T09:30:00.000Z",
  title: "Weekly planning",
  to_email: "ben@example.org",
  token: "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
  tools_used: ["search_segments"],
  transcript: "let us begin with the budget",
  transcription_text: "Let us begin with the budget.",
  type: "session.completed",
  url: "https://hooks.example.org/voice",
  use: "sig",
  version: "1.0.0",
  vocabulary: ["budget"],
  warnings: ["The database is not durable: `fsync` is off."],
  word: "budget",
  workspace_name: "Product team",
  x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
};

const BY_FORMAT: Readonly<Record<string, Json>> = {
  "date-time": "2026-01-31T09:30:00.000Z",
  email: "anna@example.org",
  uri: "https://hooks.example.org/voice",
  uuid: exampleId("id"),
};

/** The id that examples show for members of this name. */
export function exampleId(name: string): string {
  const hex = createHash("sha256").update(name).digest("hex");
  return `019c1234-5678-7abc-8def-${hex.slice(0, 12)}`;
}

/**
 * An example that the schema accepts: its own where it has one, else one made from its parts.
 * Undefined where the schema is too general.
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

/** Prefers null for members such as `next_cursor`, where the schema allows it. */
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
  if (/_(?:at|time|since)$/.test(name)) return "2026-01-31T09:30:00.000Z";
  if (name.endsWith("_url")) return "https://voice.example.org/";
  if (name.endsWith("_token") || name.endsWith("secret")) return "c2VjcmV0LXNlY3JldC1zZWNyZXQ";
  return (name || "text").padEnd(Number(schema.minLength ?? 0), "x");
}
