import { type Static, Type } from "@sinclair/typebox";
import { AUDIT_KINDS } from "../../access/audit-entry.ts";
import { toTimestamp } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import {
  filterId,
  filterInstant,
  pageQuery,
  pageSchema,
  toPageBody,
  toPageRequest,
} from "../../rest/page.ts";
import { defineRoute, type Route } from "../../rest/route.ts";
import { timestamp } from "../../rest/schemas.ts";
import type { TenancyContext } from "../context.ts";
import { type AuditHead, type AuditRecord, AuditStore, VERIFIED_AT_ONCE } from "./audit-store.ts";
import { elevationRoutes } from "./elevation.ts";
import { ElevationStore } from "./elevation-store.ts";
import { FailedSignInStore } from "./failed-sign-ins-store.ts";

interface AuditOptions {
  log: AuditStore;
  /** Signs the cursors of lists. */
  cursorKey: Uint8Array;
}

const actor = Type.Object(
  {
    kind: Type.Union(
      (["user", "guest", "device", "service", "system"] as const).map((kind) => Type.Literal(kind)),
    ),
    id: Type.Optional(Type.String()),
  },
  { $id: "Actor" },
);

const entrySchema = Type.Object(
  {
    seq: Type.Integer(),
    id: Type.String(),
    at: timestamp,
    kind: Type.String({ examples: ["content_elevated"] }),
    actor,
    workspace_id: Type.Optional(Type.String()),
    session_id: Type.Optional(Type.String()),
    subject_id: Type.Optional(Type.String()),
    detail: Type.Record(Type.String(), Type.Unknown(), {
      description: "What else belongs to this kind of entry: ids, numbers and states, never words",
    }),
    addresses: Type.Optional(
      Type.Array(Type.String(), {
        description:
          "Of `login_failed`: the network addresses whose digests `detail` holds, until they are forgotten after 30 days",
      }),
    ),
    hash: Type.String({ description: "SHA-256 in hex over the entry and `previous_hash`" }),
    previous_hash: Type.String({ description: "`hash` of the entry before it" }),
  },
  { $id: "AuditEntry" },
);

const headPattern = "^[1-9][0-9]{0,15}:[0-9a-f]{64}$";

const place = Type.Object(
  {
    seq: Type.Integer(),
    hash: Type.String({ description: "SHA-256 in hex of the entry of this number" }),
  },
  { $id: "AuditPlace" },
);

const verdictSchema = Type.Object(
  {
    valid: Type.Boolean({ description: "Of what was asked for, at most `limit` entries" }),
    entries: Type.Integer({ description: "How many were found right in this answer" }),
    head: Type.Optional(place),
    next: Type.Optional(
      Type.Composite([place], {
        description:
          "There are more entries: ask again with these as `from_seq` and `from_hash`. Absent when the log was followed to its end.",
      }),
    ),
    broken_seq: Type.Optional(
      Type.Integer({ description: "The first entry that is not right; absent when all are" }),
    ),
    problem: Type.Optional(Type.String({ description: "What is wrong with it, for people" })),
    protected: Type.Boolean({
      description: "The serving database role can neither change nor delete entries",
    }),
  },
  { $id: "AuditVerdict" },
);

/** GET /admin/audit and /admin/audit/verify. */
function auditRoutes(options: AuditOptions): Route[] {
  return [listEntries(options), verifyLog(options)];
}

function present(record: AuditRecord): Static<typeof entrySchema> {
  return {
    seq: record.seq,
    id: record.id,
    at: toTimestamp(record.at),
    kind: record.kind,
    actor: { kind: record.actor.kind, id: record.actor.id },
    workspace_id: record.workspaceId,
    session_id: record.sessionId,
    subject_id: record.subjectId,
    detail: record.detail,
    addresses: record.addresses.length === 0 ? undefined : record.addresses,
    hash: record.hash,
    previous_hash: record.previousHash,
  };
}

function listEntries({ log, cursorKey }: AuditOptions): Route {
  return defineRoute({
    method: "get",
    path: "/admin/audit",
    id: "listAudit",
    tag: "Admin",
    summary: "The audit log, newest first",
    auth: ["bearer"],
    roles: ["admin"],
    query: Type.Object({
      ...pageQuery,
      kind: Type.Optional(Type.Union(AUDIT_KINDS.map((kind) => Type.Literal(kind)))),
      actor_id: Type.Optional(Type.String({ description: "UUID of who did it" })),
      session_id: Type.Optional(Type.String()),
      workspace_id: Type.Optional(Type.String()),
      subject_id: Type.Optional(Type.String()),
      from: Type.Optional(
        Type.String({ description: "The earliest time, RFC 3339", format: "date-time" }),
      ),
      to: Type.Optional(
        Type.String({ description: "The time before which, RFC 3339", format: "date-time" }),
      ),
    }),
    responses: { 200: { description: "A page of entries", schema: pageSchema(entrySchema) } },
    async handle({ query }) {
      const filter = {
        kind: query.kind,
        actorId: filterId("actor_id", query.actor_id),
        sessionId: filterId("session_id", query.session_id),
        workspaceId: filterId("workspace_id", query.workspace_id),
        subjectId: filterId("subject_id", query.subject_id),
        from: filterInstant("from", query.from),
        to: filterInstant("to", query.to),
      };
      const found = await log.list(filter, toPageRequest(cursorKey, "audit", query));
      return { status: 200, body: toPageBody(cursorKey, "audit", found, present) };
    },
  });
}

function verifyLog({ log }: AuditOptions): Route {
  return defineRoute({
    method: "get",
    path: "/admin/audit/verify",
    id: "verifyAudit",
    tag: "Admin",
    summary: "Compute the audit log's hash chain again",
    description:
      "Finds changed, missing and inserted entries. Keep `head` elsewhere and give it as `head=<seq>:<hash>` the next time: then a log that was cut short shows as well. One answer covers at most `limit` entries: follow `next` until there is none. `from_seq` and `from_hash` may be any entry that is known to be right, such as the head of an earlier run.",
    auth: ["bearer"],
    roles: ["admin"],
    query: Type.Object({
      head: Type.Optional(Type.String({ pattern: headPattern, description: "`<seq>:<hash>`" })),
      from_seq: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: Number.MAX_SAFE_INTEGER,
          description: "Begin after this entry, with its `from_hash`",
        }),
      ),
      from_hash: Type.Optional(
        Type.String({
          description: "`hash` of the entry of `from_seq`",
          pattern: "^[0-9a-f]{64}$",
        }),
      ),
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 50_000, default: VERIFIED_AT_ONCE }),
      ),
    }),
    responses: { 200: { description: "What was found", schema: verdictSchema } },
    async handle({ query }) {
      const { from_seq: seq, from_hash: hash, limit } = query;
      if ((seq === undefined) !== (hash === undefined)) {
        throw new AppError("invalid_parameter", "Give `from_seq` and `from_hash` together.");
      }
      const from = seq === undefined || hash === undefined ? undefined : { seq, hash };
      const { brokenSeq, ...verdict } = await log.verify(headOf(query.head), { from, limit });
      return { status: 200, body: { ...verdict, broken_seq: brokenSeq } };
    },
  });
}

function headOf(text: string | undefined): AuditHead | undefined {
  if (text === undefined) return undefined;
  const [seq = "", hash = ""] = text.split(":");
  return { seq: Number(seq), hash };
}

interface CreateAuditOptions {
  /** HMAC key of the digests of network addresses. */
  addressKey: Uint8Array;
}

/** The log of what was done with whose data, and the elevations that it records. */
export function createAudit(
  { pool, clock, cursorKey, revocations }: TenancyContext,
  { addressKey }: CreateAuditOptions,
) {
  const audit = new AuditStore(pool);
  const elevations = new ElevationStore(pool);
  return {
    audit,
    failures: new FailedSignInStore(pool, addressKey),
    elevations,
    routes: [
      ...elevationRoutes({ elevations, revocations, clock }),
      ...auditRoutes({ log: audit, cursorKey }),
    ],
  };
}
