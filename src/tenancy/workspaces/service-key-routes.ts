import { type Static, Type } from "@sinclair/typebox";
import { mayWorkspace, type WorkspaceAction } from "../../access/policy.ts";
import { type Principal, SCOPES } from "../../access/principal.ts";
import { toTimestamp } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import { requireUser } from "../../rest/callers.ts";
import { exampleId } from "../../rest/example-values.ts";
import { filterId, pageQuery, pageSchema, toPageBody, toPageRequest } from "../../rest/page.ts";
import {
  acknowledge,
  acknowledged,
  defineRoute,
  HUMAN_ROLES,
  type Route,
} from "../../rest/route.ts";
import { timestamp } from "../../rest/schemas.ts";
import { nameSchema } from "../../wire/names.ts";
import {
  KEY_STATUSES,
  type ServiceKeyRecord,
  type ServiceKeyRecords,
} from "../accounts/service-key-records.ts";
import { type Granting, type GrantingOptions, requireGranting } from "./members-routes.ts";
import { requireWorkspace } from "./routes.ts";
import { type IssuedServiceKey, type ServiceKeys, unknownKey } from "./service-keys.ts";

const REVOKED = "The key is revoked.";

const scopeSchema = Type.Union(
  SCOPES.map((scope) => Type.Literal(scope)),
  { $id: "ServiceKeyScope" },
);

const keyStatus = Type.Union(
  KEY_STATUSES.map((each) => Type.Literal(each)),
  {
    $id: "ServiceKeyStatus",
    description:
      "`suspended` while whoever `created_by` names is disabled, erased, or no longer in the role that let them: it works again when they return, or when somebody else takes it over",
  },
);

const members = {
  id: Type.String(),
  workspace_id: Type.String(),
  name: Type.String({ examples: ["Archive export"] }),
  scopes: Type.Array(scopeSchema, { examples: [["sessions:read", "export"]] }),
  prefix: Type.String({
    description: "How the key begins, to recognise it by",
    examples: ["vk_svc_4fZk1Q"],
  }),
  status: keyStatus,
  created_by: Type.Optional(
    Type.String({ description: "The user who made it, rotated it or took it over last" }),
  ),
  created_at: timestamp,
  rotated_at: Type.Optional(timestamp),
  expires_at: Type.Unsafe<string>({ ...timestamp, examples: ["2027-01-31T09:30:00.000Z"] }),
  last_used_at: Type.Optional(
    Type.String({ description: "RFC 3339, UTC, milliseconds; to about a minute" }),
  ),
};

const serviceKeySchema = Type.Object(members, { $id: "ServiceKey" });

const issuedServiceKeySchema = Type.Object(
  {
    ...members,
    key: Type.String({ description: "The key itself, shown this once; sent as `X-API-Key`" }),
  },
  { $id: "IssuedServiceKey" },
);

function presentServiceKey(key: ServiceKeyRecord): Static<typeof serviceKeySchema> {
  const { secretCreatedAt, createdAt, lastUsedAt } = key;
  return {
    id: key.id,
    workspace_id: key.workspaceId,
    name: key.name,
    scopes: [...key.scopes],
    prefix: key.prefix,
    status: key.status,
    created_by: key.createdBy,
    created_at: toTimestamp(createdAt),
    rotated_at: secretCreatedAt > createdAt ? toTimestamp(secretCreatedAt) : undefined,
    expires_at: toTimestamp(key.expiresAt),
    last_used_at: lastUsedAt === undefined ? undefined : toTimestamp(lastUsedAt),
  };
}

function presentIssuedKey(issued: IssuedServiceKey): Static<typeof issuedServiceKeySchema> {
  return { ...presentServiceKey(issued.record), key: issued.secret };
}

const NO_STORE = { "cache-control": "no-store" };
interface ServiceKeyRouteOptions {
  serviceKeys: Pick<ServiceKeys, "issue" | "rotate" | "adopt" | "revoke">;
  serviceKeyBook: Pick<ServiceKeyRecords, "find" | "list">;
  workspaces: GrantingOptions["workspaces"];
  elevations: GrantingOptions["elevations"];
  cursorKey: Uint8Array;
}

/** GET and POST /api-keys, GET and DELETE /api-keys/{id}, POST /api-keys/{id}/rotate and /adopt. */
export function serviceKeyRoutes(options: ServiceKeyRouteOptions): Route[] {
  return [
    listKeys(options),
    createKey(options),
    getKey(options),
    rotateKey(options),
    adoptKey(options),
    revokeKey(options),
  ];
}

const keyParams = Type.Object({ id: Type.String({ description: "UUID of the key" }) });

const expiryMember = Type.Optional(
  Type.String({
    format: "date-time",
    description: "At most two years from now",
  }),
);

/** Returns the key if the caller may manage the keys of its workspace. Throws 404, then 403. */
async function requireKey(
  { serviceKeyBook, workspaces }: Pick<ServiceKeyRouteOptions, "serviceKeyBook" | "workspaces">,
  principal: Principal | undefined,
  id: string,
  action: WorkspaceAction = "workspace.webhooks",
): Promise<ServiceKeyRecord> {
  const caller = requireUser(principal);
  const key = isId(id) ? await serviceKeyBook.find(id) : undefined;
  if (key === undefined) throw unknownKey();
  const role = await workspaces.role(key.workspaceId, caller.id);
  const facts = { kind: "workspace", id: key.workspaceId, role } as const;
  if (mayWorkspace(caller, action, facts) === "allow") return key;
  throw new AppError("forbidden", "Only an owner of the workspace manages its keys.");
}

function listKeys({ serviceKeyBook, workspaces, cursorKey }: ServiceKeyRouteOptions): Route {
  return defineRoute({
    method: "get",
    path: "/api-keys",
    id: "listServiceKeys",
    tag: "ApiKey",
    summary: "Service keys of the workspaces that the caller owns, newest first; all for an admin",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    query: Type.Object({
      ...pageQuery,
      workspace_id: Type.Optional(Type.String()),
      status: Type.Optional(keyStatus),
      created_by: Type.Optional(Type.String({ description: "UUID of a user" })),
    }),
    responses: { 200: { description: "A page of keys", schema: pageSchema(serviceKeySchema) } },
    errors: ["not_found"],
    async handle({ principal, query }) {
      const caller = requireUser(principal);
      const page = toPageRequest(cursorKey, "api-keys", query);
      const workspaceId = filterId("workspace_id", query.workspace_id);
      if (workspaceId !== undefined) {
        await requireWorkspace(workspaces, caller, workspaceId, "workspace.webhooks");
      }
      const ownerId = caller.role === "admin" ? undefined : caller.id;
      const createdBy = filterId("created_by", query.created_by);
      const filter = { workspaceId, ownerId, createdBy, status: query.status };
      const found = await serviceKeyBook.list(filter, page);
      return { status: 200, body: toPageBody(cursorKey, "api-keys", found, presentServiceKey) };
    },
  });
}

function createKey({ serviceKeys, workspaces }: ServiceKeyRouteOptions): Route {
  return defineRoute({
    method: "post",
    path: "/api-keys",
    id: "createServiceKey",
    tag: "ApiKey",
    summary: "Make a service key for one workspace",
    description:
      "By an owner of the workspace; being an administrator is not enough, as content opens to administrators by elevation only. The key is shown in this answer only. It lives one year unless `expires_at` says otherwise. `sessions:read` reads sessions, transcripts and the live channel, `sessions:write` begins sessions, brings their files and streams, and edits, stops and deletes them, `sessions:share` decides who else sees them (members, visibility, guest access and guest codes), `query` asks, `export` fetches transcript files and audio, `webhooks` manages webhooks, `transcribe` transcribes with the clients of OpenAI and Deepgram below /compat and does nothing else.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    body: {
      kind: "json",
      schema: Type.Object(
        {
          workspace_id: Type.String(),
          name: nameSchema({ minLength: 1, maxLength: 200 }),
          scopes: Type.Array(scopeSchema, { minItems: 1, maxItems: 16 }),
          expires_at: expiryMember,
        },
        // Without `expires_at`: a day written here would be refused once it is past.
        {
          examples: [
            { workspace_id: exampleId("workspace_id"), name: "Export", scopes: ["export"] },
          ],
        },
      ),
    },
    responses: {
      201: {
        description: "The key",
        schema: issuedServiceKeySchema,
        example: { rotated_at: undefined, last_used_at: undefined },
      },
    },
    errors: ["not_found", "quota_exceeded"],
    async handle({ principal, body }) {
      const caller = requireUser(principal);
      const workspace = await requireWorkspace(
        workspaces,
        caller,
        body.workspace_id,
        "workspace.keys",
      );
      const issued = await serviceKeys.issue(caller, {
        workspaceId: workspace.id,
        name: body.name,
        scopes: [...new Set(body.scopes)],
        expiresAt: toInstant(body.expires_at),
      });
      return { status: 201, headers: NO_STORE, body: presentIssuedKey(issued) };
    },
  });
}

function toInstant(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text);
}

function getKey(options: ServiceKeyRouteOptions): Route {
  return defineRoute({
    method: "get",
    path: "/api-keys/{id}",
    id: "getServiceKey",
    tag: "ApiKey",
    summary: "One service key, without its secret",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: keyParams,
    responses: { 200: { description: "The key", schema: serviceKeySchema } },
    resolve: ({ principal, params }) => requireKey(options, principal, params.id),
    async handle(_request, key: ServiceKeyRecord) {
      return { status: 200, body: presentServiceKey(key) };
    },
  });
}

function rotateKey(options: ServiceKeyRouteOptions): Route {
  return defineRoute({
    method: "post",
    path: "/api-keys/{id}/rotate",
    id: "rotateServiceKey",
    tag: "ApiKey",
    summary: "A new secret for a service key; the old one works for 24 h more at most",
    description:
      "By an owner of the workspace. Without `expires_at` the new secret lives for as long as the one before was given. Of older secrets only the newest stays valid for the 24 h.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: keyParams,
    body: {
      kind: "json",
      schema: Type.Object({ expires_at: expiryMember }, { examples: [{}] }),
      optional: true,
    },
    responses: {
      201: { description: "The key with its new secret", schema: issuedServiceKeySchema },
    },
    resolve: ({ principal, params }) => requireKey(options, principal, params.id, "workspace.keys"),
    async handle({ principal, body }, key: ServiceKeyRecord) {
      const until = toInstant(body?.expires_at);
      const issued = await options.serviceKeys.rotate(requireUser(principal), key, until);
      return { status: 201, headers: NO_STORE, body: presentIssuedKey(issued) };
    },
  });
}

interface Adoption {
  key: ServiceKeyRecord;
  granting: Granting;
}

function adoptKey(options: ServiceKeyRouteOptions): Route {
  return defineRoute({
    method: "post",
    path: "/api-keys/{id}/adopt",
    id: "adoptServiceKey",
    tag: "ApiKey",
    summary: "Take a service key over, so that it works by one's own right",
    description:
      "By an owner of the workspace, or by an administrator under an elevation that covers it. A key that is suspended because its maker left works again at once, with the same secret, so that nothing has to be changed where it is used. Whoever has seen the secret knows it still: rotate the key if that matters.",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: keyParams,
    responses: { 200: { description: "The key", schema: serviceKeySchema } },
    errors: ["elevation_required"],
    async resolve({ principal, params }): Promise<Adoption> {
      const { id } = params;
      const key = isId(id) ? await options.serviceKeyBook.find(id) : undefined;
      if (key === undefined) throw unknownKey();
      return { key, granting: await requireGranting(options, principal, key.workspaceId) };
    },
    async handle({ principal }, { key, granting }: Adoption) {
      const { elevation } = granting;
      const adopted = await options.serviceKeys.adopt(requireUser(principal), key, elevation);
      return { status: 200, body: presentServiceKey(adopted) };
    },
  });
}

function revokeKey(options: ServiceKeyRouteOptions): Route {
  return defineRoute({
    method: "delete",
    path: "/api-keys/{id}",
    id: "revokeServiceKey",
    tag: "ApiKey",
    summary: "Revoke a service key: refused within 5 s everywhere, open sockets included",
    auth: ["bearer"],
    roles: HUMAN_ROLES,
    params: keyParams,
    responses: { 200: acknowledged(REVOKED) },
    resolve: ({ principal, params }) => requireKey(options, principal, params.id),
    async handle({ principal }, key: ServiceKeyRecord) {
      await options.serviceKeys.revoke(requireUser(principal), key);
      return acknowledge(REVOKED);
    },
  });
}
