import { type CommonQueryMethods, type FragmentSqlToken as Fragment, sql } from "slonik";
import { z } from "zod";
import { GUEST_ACCESS, relationTo, type SessionFacts } from "../../access/policy.ts";
import type { Principal } from "../../access/principal.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";

const factsRow = z.object({
  id: z.string(),
  ownerId: z.string(),
  memberRelation: optionalColumn(z.enum(["participant", "shared"])),
  visibility: z.enum(["private", "workspace"]),
  workspaceId: z.string(),
  workspaceRole: optionalColumn(z.enum(["owner", "member"])),
  deleted: z.boolean(),
  ended: optionalColumn(z.enum(["completed", "failed"])),
  guestAccess: z.enum(GUEST_ACCESS),
  deviceId: optionalColumn(z.string()),
  startedAt: z.number(),
  elevatedUntil: optionalColumn(z.number()),
});

const numberedFactsRow = factsRow.extend({ place: z.number() });

type FactsRow = z.infer<typeof factsRow>;

/** Columns of `factsRow`; `principal` is the caller, `m` and `w` are the caller's memberships. */
function factsColumns(principal: Fragment): Fragment {
  return sql.fragment`
    s.id,
    s.owner_id as "ownerId",
    m.relation as "memberRelation",
    s.visibility,
    s.workspace_id as "workspaceId",
    w.role as "workspaceRole",
    s.status = 'deleted' as deleted,
    case when s.status in ('completed', 'failed') then s.status end as ended,
    guest_access_of(s.guest_access, s.workspace_id) as "guestAccess",
    s.device_id as "deviceId",
    s.started_at as "startedAt",
    (
      select max(e.expires_at) from elevations_of(${principal}, s.id, s.workspace_id) e
    ) as "elevatedUntil"
  `;
}

function factsTies(principal: Fragment): Fragment {
  return sql.fragment`
    left join session_members m on m.session_id = s.id and m.user_id = ${principal}
    left join workspace_members w
      on w.workspace_id = s.workspace_id and w.user_id = ${principal}
  `;
}

/**
 * The caller's relations, for `maySession`, to the sessions `s` that meet the condition; newest
 * first.
 */
export async function readFacts(
  connection: CommonQueryMethods,
  principal: Principal,
  condition: Fragment,
  limit: number,
): Promise<SessionFacts[]> {
  const caller = sql.fragment`${principal.id}::uuid`;
  const rows = await connection.any(sql.type(factsRow)`
    select ${factsColumns(caller)}
    from sessions s
    ${factsTies(caller)}
    where ${condition}
    order by s.id desc
    limit ${limit}
  `);
  return rows.map((row) => toFacts(principal, row));
}

export interface FactsKey {
  principal: Principal;
  sessionId: string;
}

/**
 * Like `readFacts`, for many callers and one session each, in their order; undefined for an unknown
 * session.
 */
export async function readManyFacts(
  connection: CommonQueryMethods,
  keys: readonly FactsKey[],
): Promise<(SessionFacts | undefined)[]> {
  const caller = sql.fragment`k.principal`;
  const asked = keys.map(({ principal, sessionId }) => [principal.id, sessionId]);
  const rows = await connection.any(sql.type(numberedFactsRow)`
    select k.place::integer, ${factsColumns(caller)}
    from ${sql.unnest(asked, ["uuid", "uuid"])} with ordinality
      as k (principal, session, place)
    join sessions s on s.id = k.session
    ${factsTies(caller)}
  `);
  const found = new Map(rows.map((row) => [row.place, row]));
  return keys.map(({ principal }, index) => {
    const row = found.get(index + 1);
    return row && toFacts(principal, row);
  });
}

function toFacts(
  principal: Principal,
  { ownerId, memberRelation, visibility, ...row }: FactsRow,
): SessionFacts {
  const { id, workspaceId, workspaceRole } = row;
  const ties = { ownerId, memberRelation, isShared: visibility === "workspace", workspaceRole };
  return {
    kind: "session",
    ...{ id, workspaceId, workspaceRole },
    relation: relationTo(principal, id, ties),
    deleted: row.deleted,
    ended: row.ended,
    guestAccess: row.guestAccess,
    deviceId: row.deviceId,
    startedAt: row.startedAt,
    elevatedUntil: row.elevatedUntil,
  };
}
