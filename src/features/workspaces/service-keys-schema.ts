import { type Static, Type } from "@sinclair/typebox";
import { SCOPES } from "../../access/principal.ts";
import { toTimestamp } from "../../base/clock.ts";
import { timestamp } from "../../rest/timestamp.ts";
import type { ServiceKeyRecord } from "../accounts/service-key-book.ts";
import type { IssuedServiceKey } from "./service-keys.ts";

export const scopeSchema = Type.Union(SCOPES.map((scope) => Type.Literal(scope)));

const members = {
  id: Type.String(),
  workspace_id: Type.String(),
  name: Type.String({ examples: ["Archive export"] }),
  scopes: Type.Array(scopeSchema, { examples: [["sessions:read", "export"]] }),
  prefix: Type.String({
    description: "How the key begins, to recognise it by",
    examples: ["vk_svc_4fZk1Q"],
  }),
  created_by: Type.Optional(Type.String({ description: "The user who made it" })),
  created_at: timestamp,
  rotated_at: Type.Optional(timestamp),
  expires_at: timestamp,
  last_used_at: Type.Optional(
    Type.String({ description: "RFC 3339, UTC, milliseconds; to about a minute" }),
  ),
};

export const serviceKeySchema = Type.Object(members);

export const issuedServiceKeySchema = Type.Object({
  ...members,
  key: Type.String({ description: "The key itself, shown this once; sent as `X-API-Key`" }),
});

export function presentServiceKey(key: ServiceKeyRecord): Static<typeof serviceKeySchema> {
  const { secretCreatedAt, createdAt, lastUsedAt } = key;
  return {
    id: key.id,
    workspace_id: key.workspaceId,
    name: key.name,
    scopes: [...key.scopes],
    prefix: key.prefix,
    created_by: key.createdBy,
    created_at: toTimestamp(createdAt),
    rotated_at: secretCreatedAt > createdAt ? toTimestamp(secretCreatedAt) : undefined,
    expires_at: toTimestamp(key.expiresAt),
    last_used_at: lastUsedAt === undefined ? undefined : toTimestamp(lastUsedAt),
  };
}

export function presentIssuedKey(issued: IssuedServiceKey): Static<typeof issuedServiceKeySchema> {
  return { ...presentServiceKey(issued.record), key: issued.secret };
}
