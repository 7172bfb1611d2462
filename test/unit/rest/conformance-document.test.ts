import { describe, expect, it } from "vitest";
import { wholeDocument } from "../../support/whole-document.ts";

type Node = Record<string, unknown>;
type Row = readonly [row: number, method: string, path: string, success: number, errors: number[]];

/** The endpoints that were promised first, by number, with their codes. */
const ROWS: readonly Row[] = [
  [1, "get", "/admin/jobs/transcriptions/{job_id}", 200, [401, 403, 404]],
  [2, "get", "/admin/jobs/summarisations/{id}", 200, [401, 403, 404]],
  [3, "post", "/admin/jobs/transcriptions/{job_id}/redo", 200, [401, 403, 404, 409]],
  [4, "post", "/users/{id}/disable", 200, [400, 401, 403, 404]],
  [5, "post", "/users/{id}/enable", 200, [400, 401, 403, 404]],
  [6, "put", "/workshops/{workshop_id}/characters/{character_id}", 200, [400, 401, 403, 404, 412]],
  [7, "post", "/workspaces", 201, [400, 401, 403, 409, 422]],
  [8, "post", "/workspaces/{id}/agentic-query", 200, [400, 401, 403, 404]],
  [9, "post", "/sessions/{session_id}/hirag-query", 200, [400, 401, 403, 404]],
  [10, "post", "/sessions/{session_id}/speaker-claims", 200, [400, 401, 403, 404, 409]],
  [11, "get", "/sessions/{session_id}/chunks", 200, [401, 403, 404]],
  [12, "post", "/admin/content-elevate", 200, [400, 401, 403, 404]],
  [13, "post", "/auth/login", 200, [400, 401]],
  [14, "get", "/auth/refresh-token", 200, [401]],
  [15, "post", "/auth/request-magic-link", 200, [400]],
  [16, "post", "/auth/validate-magic-link", 200, [400, 401]],
  [17, "post", "/auth/guest", 201, [400, 403, 404]],
  [18, "post", "/devices/{device_id}/heartbeat", 200, [400, 401, 403, 404]],
  [19, "post", "/devices/{device_id}/session/start", 201, [400, 401, 403, 404, 409, 422]],
  [20, "post", "/devices/{device_id}/session/stop", 200, [401, 403, 404, 409]],
  [21, "post", "/sessions/{session_id}/upload-audio", 201, [400, 401, 403, 404, 409, 422]],
  [22, "post", "/devices/pair/claim-auth", 200, [400, 401, 403, 404, 409]],
  [23, "post", "/devices/pairing-codes", 201, [400, 409]],
  [24, "get", "/devices/pair/status", 200, [400, 404]],
  [25, "get", "/health", 200, []],
];

/** Those that were promised beyond them. */
const BEYOND = `
post /devices/pair
post /auth/logout
get /auth/me
get /auth/jwks.json
get /auth/oauth/providers
get /auth/oauth/{provider}/authorize
get /auth/oauth/{provider}/callback
post /auth/live-ticket
post /users
get /users
get /users/{id}
patch /users/{id}
delete /users/me
get /admin/jobs/transcriptions
get /admin/jobs/summarisations
delete /admin/content-elevate/{elevation_id}
get /admin/overview
get /admin/outbox
post /admin/outbox/retry
post /admin/outbox/drop
post /admin/audio/verify
post /admin/audio/move
get /admin/audit
get /admin/audit/verify
get /api-keys
post /api-keys
get /api-keys/{id}
delete /api-keys/{id}
post /api-keys/{id}/rotate
post /sessions/{session_id}/concerns
get /sessions/{session_id}/concerns
get /concerns
get /concerns/{concern_id}
patch /concerns/{concern_id}
get /devices
post /devices
get /devices/{device_id}
patch /devices/{device_id}
delete /devices/{device_id}
get /sessions/{session_id}/graph
get /workspaces/{id}/graph
get /workspaces/{id}/graph/entities/{entity_id}
get /workspaces/{id}/graph/path
get /health/live
get /health/ready
get /jobs
get /jobs/{id}
post /jobs/{id}/cancel
post /sessions/{session_id}/transcriptions
post /sessions/{session_id}/summaries
get /sessions
post /sessions
get /sessions/{session_id}
patch /sessions/{session_id}
delete /sessions/{session_id}
get /sessions/{session_id}/segments
patch /sessions/{session_id}/segments/{segment_id}
get /sessions/{session_id}/transcript
get /sessions/{session_id}/audio
put /users/me/voice
get /users/me/voice
delete /users/me/voice
get /sessions/{session_id}/speakers
patch /sessions/{session_id}/speakers/{label}
delete /sessions/{session_id}/speaker-claims/{label}
post /sessions/{session_id}/speakers/merge
get /sessions/{session_id}/summaries
get /sessions/{session_id}/members
post /sessions/{session_id}/members
delete /sessions/{session_id}/members/{user_id}
post /sessions/{session_id}/redactions
get /sessions/{session_id}/completeness
get /workshops
post /workshops
get /workshops/{workshop_id}
patch /workshops/{workshop_id}
delete /workshops/{workshop_id}
get /workshops/{workshop_id}/characters
post /workshops/{workshop_id}/characters
delete /workshops/{workshop_id}/characters/{character_id}
get /workspaces
get /workspaces/{id}
patch /workspaces/{id}
delete /workspaces/{id}
get /workspaces/{id}/members
get /workspaces/{id}/invitations
delete /workspaces/{id}/invitations/{invitation_id}
get /sessions/{session_id}/invitations
delete /sessions/{session_id}/invitations/{invitation_id}
get /invitations
post /invitations/{id}/accept
post /invitations/{id}/decline
get /workspaces/{id}/search
get /workspaces/{id}/webhooks
get /workspaces/{id}/webhooks/{webhook_id}/deliveries
`;

describe("conformance: the OpenAPI document", async () => {
  const document = await wholeDocument();

  /** What stands at a path of members, references followed. */
  function at(value: unknown, ...path: (string | number)[]): unknown {
    return path.reduce<unknown>((node, key) => followed((node as Node | undefined)?.[key]), value);
  }

  function followed(value: unknown): unknown {
    const { $ref } = (value ?? {}) as { $ref?: unknown };
    return typeof $ref === "string" ? at(document, ...$ref.split("/").slice(1)) : value;
  }

  const operation = (method: string, path: string) => at(document, "paths", path, method);
  const answers = (method: string, path: string) =>
    at(operation(method, path), "responses") as Node;
  const schemaOf = (method: string, path: string, status: number) =>
    at(answers(method, path), status, "content", "application/json", "schema", "properties");
  const job = schemaOf("get", "/admin/jobs/transcriptions/{job_id}", 200);

  it.each(ROWS)("endpoint %i: %s %s declares its codes", (_row, method, path, success, errors) => {
    const declared = answers(method, path);
    const body =
      method === "get" ? [] : [413, ...(at(operation(method, path), "requestBody") ? [415] : [])];
    for (const status of [success, ...errors, ...body, 429, 500, 503]) {
      expect(declared, String(status)).toHaveProperty(String(status));
    }
  });

  it("4: every error body is the one of 2.4, except of health and of other services' interfaces", () => {
    for (const [path, item] of Object.entries(document.paths as Record<string, Node>)) {
      for (const [method, each] of Object.entries(item)) {
        const responses = (at(each, "responses") ?? {}) as Node;
        for (const status of Object.keys(responses).filter((one) => Number(one) >= 400)) {
          const content = at(responses, status, "content", "application/json") as Node;
          const { schema } = content;
          if (path.startsWith("/health") && status === "503") continue;
          if (path.startsWith("/compat/")) continue;
          expect(schema, `${method} ${path} ${status}`).toEqual({
            $ref: "#/components/schemas/ErrorBody",
          });
        }
      }
    }
    expect(at(document, "components", "schemas", "ErrorBody", "required")).toEqual([
      "success",
      "message",
    ]);
  });

  it.each(BEYOND.trim().split("\n"))("there is %s", (line) => {
    const [method = "", path = ""] = line.split(" ");
    expect(operation(method, path)).toBeDefined();
  });

  it("1: operations are grouped into the eleven tags, those for other services' clients into one of their own", () => {
    const tags = (document.tags as { name: string }[]).map(({ name }) => name);
    expect(tags).toEqual(
      "Admin ApiKey Auth Compat Concerns Device Graph Health Job Session Workshop Workspace".split(
        " ",
      ),
    );
  });

  it("what is an int32 or a float is declared so", () => {
    for (const name of ["segment_count", "speaker_count", "duration_ms"]) {
      expect(at(job, name), name).toMatchObject({ type: "integer", format: "int32" });
    }
    for (const name of ["progress", "avg_confidence"]) {
      expect(at(job, name), name).toMatchObject({ type: "number", format: "float" });
    }
    const segment = at(job, "segments", "items", "properties");
    for (const name of ["start_ms", "end_ms"]) {
      expect(at(segment, name)).toMatchObject({ type: "integer", format: "int32" });
    }
    expect(at(segment, "confidence")).toMatchObject({ type: "number", format: "float" });
  });

  it("job detail: the members that must be there are declared as required, the others are not", () => {
    const path = "/admin/jobs/transcriptions/{job_id}";
    const schema = at(answers("get", path), 200, "content", "application/json", "schema");
    expect([...(at(schema, "required") as string[])].sort()).toEqual(
      [
        ...["id", "workspace_id", "status", "progress", "error", "segment_count", "segments"],
        ...["created_at", "content_visible", "elevation_required", "session_was_deleted"],
      ].sort(),
    );
  });

  it("what is a uuid string is declared so", () => {
    const parameters = at(
      operation("get", "/admin/jobs/transcriptions/{job_id}"),
      "parameters",
    ) as Node[];
    const chunks = schemaOf("get", "/sessions/{session_id}/chunks", 200);
    const claim = schemaOf("post", "/sessions/{session_id}/speaker-claims", 200);
    for (const schema of [
      at(
        parameters.find(({ name }) => name === "job_id"),
        "schema",
      ),
      at(chunks, "chunks", "items", "properties", "chunk_id"),
      at(claim, "claimed_user_id"),
    ]) {
      expect(schema).toMatchObject({ type: "string", format: "uuid" });
    }
  });
});
