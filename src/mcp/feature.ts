import { Type } from "@sinclair/typebox";
import type { Principal, Scope } from "../access/principal.ts";
import { AppError, errorMessage, shown } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { requirePrincipal } from "../rest/callers.ts";
import { defineRoute, HUMAN_ROLES, type Route } from "../rest/route.ts";
import { answerMessage } from "./message-server.ts";

interface McpOptions {
  version: string;
  /** Where the service is reached. */
  publicUrl: () => string;
  /** Other origins whose pages may call. */
  allowedOrigins: readonly string[];
  log: Log;
}

/** What a service key needs for any message. */
const NEEDED: readonly Scope[] = ["sessions:read", "query"];

const ANYTHING = { type: "object", additionalProperties: true } as const;
const messageId = Type.Union([Type.Integer(), Type.String({ maxLength: 200 })], {
  description: "Chosen by the client; a notification has none",
  examples: [1],
});
const version = Type.Literal("2.0", { description: "The version of JSON-RPC" });

const messageSchema = Type.Object(
  {
    jsonrpc: version,
    id: Type.Optional(messageId),
    method: Type.String({
      maxLength: 200,
      description: "Of the Model Context Protocol: `initialize`, `tools/list`, `tools/call`, …",
      examples: ["tools/list"],
    }),
    params: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        ...ANYTHING,
        description: "What the method takes; `tools/call` takes `name` and `arguments`",
        examples: [{}],
      }),
    ),
  },
  { $id: "McpMessage" },
);

const answerSchema = Type.Object(
  {
    jsonrpc: version,
    id: messageId,
    result: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        ...ANYTHING,
        description:
          "Of `tools/call`: `content` for a model to read and `structuredContent` by the tool's output schema; with `isError` the sentence that says what went wrong",
        examples: [{ tools: [] }],
      }),
    ),
    error: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        ...ANYTHING,
        description: "`code` and `message` of JSON-RPC, where there is no result",
      }),
    ),
  },
  { $id: "McpAnswer" },
);

/** POST /mcp. */
export function mcpRoutes(options: McpOptions): Route[] {
  const allowed = new Set(options.allowedOrigins.map((origin) => origin.toLowerCase()));
  const route = defineRoute({
    method: "post",
    path: "/mcp",
    id: "sendMcpMessage",
    tag: "Compat",
    summary: "Use the tools that find, read and ask, by the Model Context Protocol",
    description:
      "Streamable HTTP without sessions: each message is a request of its own, with the rights of whoever sends it, and is answered with JSON. The tools read only, each within the rights, limits and audit of the requests that it stands for: `find_sessions`, `search_transcripts`, `read_transcript`, `ask`, `list_action_items`, `list_decisions`. A service key needs `sessions:read` and `query`. A browser's page may call from this service's own origin and those of `ALLOWED_ORIGINS` only.",
    auth: ["bearer", "service_key"],
    roles: HUMAN_ROLES,
    calls: true,
    headers: Type.Object({
      "MCP-Protocol-Version": Type.Optional(
        Type.String({ description: "The version of the protocol, once it is agreed on" }),
      ),
    }),
    body: { kind: "json", schema: messageSchema },
    responses: {
      200: {
        description: "The answer to a request",
        schema: answerSchema,
        example: { error: undefined },
      },
      202: { description: "A notification was taken" },
    },
    errors: ["bad_request"],
    async resolve({ headers, principal }) {
      requireOrigin(headers.origin, allowed, options.publicUrl());
      requireScopes(requirePrincipal(principal));
    },
    async handle({ body, headers, principal, call }) {
      if (call === undefined) throw new Error("The front gives no way to call other routes.");
      return answerMessage(body, {
        version: options.version,
        caller: { principal: requirePrincipal(principal), call },
        protocol: headers["mcp-protocol-version"],
        onError: (tool, error) => logFailure(options.log, tool, error),
      });
    },
  });
  return [route];
}

/**
 * Throws 403 for a page of a strange origin, as the protocol demands: by its name alone a page may come to
 * stand at this service's address (DNS rebinding), so that `Host` says nothing. Programs send no origin.
 */
function requireOrigin(
  origin: string | undefined,
  allowed: ReadonlySet<string>,
  publicUrl: string,
): void {
  if (origin === undefined) return;
  const given = origin.toLowerCase();
  if (allowed.has(given) || given === new URL(publicUrl).origin) return;
  throw new AppError(
    "forbidden",
    `A page of the origin ${shown(origin)} may not call here: it is not one of ALLOWED_ORIGINS.`,
  );
}

function requireScopes(principal: Principal): void {
  if (principal.kind !== "service") return;
  const missing = NEEDED.find((scope) => !principal.scopes.includes(scope));
  if (missing !== undefined) {
    throw new AppError("forbidden", `This key lacks the scope ${missing}.`);
  }
}

function logFailure(log: Log, tool: string, error: AppError): void {
  const fields = { tool, code: error.code };
  if (error.status < 500) return log.debug(fields, "tool refused");
  log.error({ ...fields, error: errorMessage(error.cause ?? error) }, "tool failed");
}
