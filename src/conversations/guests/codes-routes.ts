import { type Static, Type } from "@sinclair/typebox";
import { actorOf } from "../../access/audit-entry.ts";
import type { RevocationFeed } from "../../access/revocations.ts";
import { secretHash } from "../../access/secrets.ts";
import { type Clock, toTimestamp } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { isId, newId } from "../../base/ids.ts";
import { pageQuery, pageSchema, toPageBody, toPageRequest } from "../../rest/page.ts";
import {
  acknowledge,
  acknowledged,
  defineRoute,
  HUMAN_ROLES,
  type Route,
} from "../../rest/route.ts";
import { optionalTime, timestamp } from "../../rest/schemas.ts";
import { requireSession, type SessionAccess, type SessionGrant } from "../sessions/access.ts";
import { sessionParams } from "../sessions/schema.ts";
import { newGuestCode } from "./codes.ts";
import type { GuestCodeRecord, GuestCodeStore } from "./codes-store.ts";

const ENDED = "The guest code lets nobody in any more, and its guests have no access.";

interface GuestCodeOptions {
  directory: SessionAccess;
  codes: GuestCodeStore;
  revocations: Pick<RevocationFeed, "publish">;
  clock: Clock;
  /** Signs the cursors of lists. */
  cursorKey: Uint8Array;
}

/** Most guest codes of a session that were not taken back. */
const MOST_CODES = 100;
const MOST_USES = 100_000;

const ends = {
  expires_at: Type.Optional(timestamp),
  max_uses: Type.Optional(Type.Integer({ description: "So many guests may come by it" })),
};

const issuedSchema = Type.Object(
  {
    id: Type.String(),
    code: Type.String({
      description: "The code itself, shown this once; goes into `session_id` of POST /auth/guest",
      examples: ["vgc_4fZk1Qm8Yt0RwXb2Ns7LdC"],
    }),
    ...ends,
  },
  { $id: "IssuedGuestCode" },
);

const codeSchema = Type.Object(
  {
    id: Type.String(),
    ...ends,
    uses: Type.Integer({ description: "So many guests came by it" }),
    created_by: Type.String({ description: "The user or the service key that made it" }),
    created_at: timestamp,
  },
  { $id: "GuestCode" },
);

/** GET and POST /sessions/{id}/guest-codes, DELETE /sessions/{id}/guest-codes/{code_id}. */
export function guestCodeRoutes(options: GuestCodeOptions): Route[] {
  return [issueCode(options), listCodes(options), revokeCode(options)];
}

const WHO =
  "By the session's owner, a moderator of its workspace, or a service key with `sessions:share`.";

function issueCode({ directory, codes, clock }: GuestCodeOptions): Route {
  return defineRoute({
    method: "post",
    path: "/sessions/{session_id}/guest-codes",
    id: "createGuestCode",
    tag: "Session",
    summary: "Make a code that lets guests into a session",
    description: `${WHO} Whoever has the code gets in by POST /auth/guest, while the session's \`guest_access\` is \`open\` or \`invitation\`. Without \`expires_at\` and \`max_uses\` it is valid until it is deleted. A session has at most ${MOST_CODES}.`,
    auth: ["bearer", "service_key"],
    roles: HUMAN_ROLES,
    params: sessionParams,
    body: {
      kind: "json",
      optional: true,
      schema: Type.Object(
        {
          expires_at: Type.Optional(
            Type.String({
              format: "date-time",
              description: "In the future",
              examples: ["2099-01-31T00:00:00.000Z"],
            }),
          ),
          max_uses: Type.Optional(
            Type.Integer({
              description: "So many guests may come by it; without it any number",
              minimum: 1,
              maximum: MOST_USES,
            }),
          ),
        },
        { examples: [{ max_uses: 20 }] },
      ),
    },
    responses: {
      201: { description: "The code", schema: issuedSchema, example: { expires_at: undefined } },
    },
    errors: ["quota_exceeded", "session_deleted"],
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.guests"),
    async handle({ body }, { principal, facts }: SessionGrant) {
      if (principal.kind !== "user" && principal.kind !== "service") {
        throw new AppError("forbidden", "Only users and service keys make guest codes.");
      }
      const expiresAt = expiryOf(body?.expires_at, clock);
      const [id, code] = [newId(), newGuestCode()];
      const issued = await codes.issue(
        {
          id,
          sessionId: facts.id,
          hash: secretHash(code),
          maxUses: body?.max_uses,
          expiresAt,
          createdBy: { kind: principal.kind, id: principal.id },
        },
        MOST_CODES,
        {
          kind: "guest_code_issued",
          actor: actorOf(principal),
          workspaceId: facts.workspaceId,
          sessionId: facts.id,
          subjectId: id,
        },
      );
      if (issued === undefined) {
        throw new AppError(
          "quota_exceeded",
          `The session has ${MOST_CODES} guest codes already. Delete some that nobody needs.`,
        );
      }
      return { status: 201, body: { ...presentEnds(issued), id, code } };
    },
  });
}

/** Unix milliseconds; undefined without an end. Throws `invalid_body` when it is over already. */
function expiryOf(text: string | undefined, clock: Clock): number | undefined {
  if (text === undefined) return undefined;
  const expiresAt = Date.parse(text);
  if (expiresAt > clock.now()) return expiresAt;
  throw new AppError("invalid_body", "`expires_at` must be a time in the future.");
}

function presentEnds({ expiresAt, maxUses }: GuestCodeRecord) {
  return { expires_at: optionalTime(expiresAt), max_uses: maxUses };
}

function presentCode(code: GuestCodeRecord): Static<typeof codeSchema> {
  return {
    id: code.id,
    ...presentEnds(code),
    uses: code.uses,
    created_by: code.createdById,
    created_at: toTimestamp(code.createdAt),
  };
}

function listCodes({ directory, codes, cursorKey }: GuestCodeOptions): Route {
  return defineRoute({
    method: "get",
    path: "/sessions/{session_id}/guest-codes",
    id: "listGuestCodes",
    tag: "Session",
    summary: "A session's guest codes without the codes, newest first",
    description: `${WHO} Codes that expired or were used up are among them, deleted ones are not.`,
    auth: ["bearer", "service_key"],
    roles: HUMAN_ROLES,
    params: sessionParams,
    query: Type.Object(pageQuery),
    responses: { 200: { description: "A page", schema: pageSchema(codeSchema) } },
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.guests"),
    async handle({ query }, { facts }: SessionGrant) {
      const list = `guest-codes\u0000${facts.id}`;
      const found = await codes.list(facts.id, toPageRequest(cursorKey, list, query));
      return { status: 200, body: toPageBody(cursorKey, list, found, presentCode) };
    },
  });
}

function revokeCode({ directory, codes, revocations }: GuestCodeOptions): Route {
  return defineRoute({
    method: "delete",
    path: "/sessions/{session_id}/guest-codes/{code_id}",
    id: "deleteGuestCode",
    tag: "Session",
    summary: "End a guest code, and the guests who came by it",
    description: `${WHO} The tokens and connections of guests who came by it end within 5 s.`,
    auth: ["bearer", "service_key"],
    roles: HUMAN_ROLES,
    params: Type.Object({ session_id: Type.String(), code_id: Type.String() }),
    responses: { 200: acknowledged(ENDED) },
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.guests"),
    async handle({ params }, { principal, facts }: SessionGrant) {
      const { code_id: codeId } = params;
      const revoked =
        isId(codeId) &&
        (await codes.revoke(facts.id, codeId, {
          kind: "guest_code_revoked",
          actor: actorOf(principal),
          workspaceId: facts.workspaceId,
          sessionId: facts.id,
          subjectId: codeId,
        }));
      if (!revoked) throw new AppError("not_found", "The session has no guest code with this id.");
      revocations.publish({ kind: "session", sessionId: facts.id });
      return acknowledge(ENDED);
    },
  });
}
