import type { Route, Tag } from "./route.ts";
import type { JsonObject } from "./schema-printer.ts";

const TAG_TEXT: Readonly<Record<Tag, string>> = {
  Admin: "Users, jobs, audit and access to content, for admins.",
  ApiKey: "Keys of other services.",
  Auth: "Signing in and out.",
  Compat:
    "For programs that speak another service's transcription interface, where only their base address and key change, and for assistants that speak the Model Context Protocol.",
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

/** How readers of the document find the tags: what most came for first. */
const TAG_GROUPS: readonly (readonly [name: string, tags: readonly Tag[]])[] = [
  ["Record and read", ["Auth", "Device", "Session", "Job", "Concerns"]],
  ["Together", ["Workspace", "Graph", "Workshop"]],
  ["Programs", ["ApiKey", "Compat"]],
  ["Operation", ["Health", "Admin"]],
];

/** `x-tagGroups`, of the tags that these routes use. */
export function tagGroupsOf(routes: readonly Route[]): JsonObject[] {
  const used = new Set(routes.map((route) => route.tag));
  return TAG_GROUPS.map(([name, tags]) => ({
    name,
    tags: tags.filter((tag) => used.has(tag)),
  })).filter(({ tags }) => tags.length > 0);
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
  Location: {
    description: "The path of what was made.",
    schema: { type: "string", format: "uri-reference" },
  },
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
