import { createHash } from "node:crypto";
import type { Route, Tag } from "./route.ts";

const TAG_TEXT: Readonly<Record<Tag, string>> = {
  Admin: "Users, jobs, audit and access to content, for admins.",
  ApiKey: "Keys of other services.",
  Auth: "Signing in and out.",
  Compat:
    "For programs that speak another service's transcription interface: only their base address and key change.",
  Concerns: "What people find wrong in a session, and what came of it.",
  Device: "Recording devices: pairing, heartbeats, sessions.",
  Graph: "Who and what was spoken of, and how it hangs together.",
  Health: "State and description of the service.",
  Job: "Work that takes a while.",
  Session: "Recorded conversations: audio, transcript, speakers, questions.",
  Workshop: "Workshops and their characters.",
  Workspace: "Workspaces, their people, search and webhooks.",
};

/** The tags that these routes use. */
export function tagsOf(routes: readonly Route[]): JsonObject[] {
  const names = [...new Set(routes.map((route) => route.tag))].sort();
  return names.map((name) => ({ name, description: TAG_TEXT[name] }));
}

export const SHARED_PARAMETERS: JsonObject = {
  "If-Match": {
    name: "If-Match",
    in: "header",
    required: false,
    description: "The `ETag` of the thing as the caller read it; 412 when it has changed since.",
    schema: { type: "string" },
  },
  "If-None-Match": {
    name: "If-None-Match",
    in: "header",
    required: false,
    description: "The `ETag` of the caller's copy; 304 when it is still right.",
    schema: { type: "string" },
  },
  "Idempotency-Key": {
    name: "Idempotency-Key",
    in: "header",
    required: false,
    description:
      "Makes the request safe to repeat for 24 h: with the same key and body the first answer comes again, marked `Idempotency-Replayed: true`; with another body it is 422. A refused or failed attempt frees the key. A wish to a session (an edit, a claim, a redaction, a redo) is carried out once for a key and body, and its answer is made anew: the key also tells what became of one that was answered with `outcome_unknown`.",
    schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[\\x21-\\x7e]+$" },
  },
};

export const SHARED_HEADERS: JsonObject = {
  ETag: { description: "For If-Match and If-None-Match.", schema: { type: "string" } },
  "Idempotency-Replayed": {
    description: "`true` on the first answer given again.",
    schema: { type: "string", enum: ["true"] },
  },
  "X-Request-Id": {
    description: "Identifies the request in our logs; the caller's own when it sent a valid one.",
    schema: { type: "string" },
  },
  "X-API-Version": { description: "Version of the interface.", schema: { const: "1.0" } },
  "Retry-After": {
    description: "Seconds after which a retry makes sense.",
    schema: { type: "integer" },
  },
};

/** References to the headers of every answer. */
export const COMMON_HEADERS: JsonObject = {
  "X-Request-Id": { $ref: "#/components/headers/X-Request-Id" },
  "X-API-Version": { $ref: "#/components/headers/X-API-Version" },
};

type Json = null | boolean | number | string | Json[] | JsonObject;

export type JsonObject = { [key: string]: Json };

/**
 * Turns schemas into plain JSON. A schema with an `$id` is printed once, under
 * `components.schemas`, and referenced from then on.
 */
export class SchemaPrinter {
  readonly components: JsonObject = {};

  print(schema: unknown): Json {
    return this.#walk(JSON.parse(JSON.stringify(schema)));
  }

  #walk(value: Json): Json {
    if (Array.isArray(value)) return value.map((item) => this.#walk(item));
    if (value === null || typeof value !== "object") return value;
    const { $id, ...members } = value;
    const printed: JsonObject = {};
    for (const [name, member] of Object.entries(members)) {
      printed[name] = name === "$ref" ? reference(member) : this.#walk(member);
    }
    if (typeof $id !== "string") return printed;
    this.#define($id, printed);
    return { $ref: `#/components/schemas/${$id}` };
  }

  #define(id: string, printed: JsonObject): void {
    const known = this.components[id];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(printed)) {
      throw new Error(`Two different schemas have the $id ${id}.`);
    }
    this.components[id] = printed;
  }
}

function reference(target: Json): Json {
  if (typeof target !== "string" || target.startsWith("#")) return target;
  return `#/components/schemas/${target}`;
}

/** Example values by member name. */
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
  speaker_confidence: 0.87,
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
  if (name.endsWith("_at") || name.endsWith("_time")) return "2026-01-31T09:30:00.000Z";
  if (name.endsWith("_url")) return "https://voice.example.org/";
  if (name.endsWith("_token") || name.endsWith("secret")) return "c2VjcmV0LXNlY3JldC1zZWNyZXQ";
  return (name || "text").padEnd(Number(schema.minLength ?? 0), "x");
}
