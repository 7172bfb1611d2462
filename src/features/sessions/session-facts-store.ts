import { type CommonQueryMethods, type FragmentSqlToken as Fragment, sql } from "slonik";
import { z } from "zod";
import { GUEST_ACCESS, type SessionFacts, type SessionRelation } from "../../access/policy.ts";
import type { Principal } from "../../access/principal.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import { coversSession, ELEVATION_IS_ACTIVE } from "../audit/elevation-store.ts";

const factsRow = z.object({
  id: z.string(),
  tie: z.enum(["owner", "participant", "shared", "none"]),
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
    case
      when s.owner_id = ${principal} then 'owner'
      when m.relation is not null then m.relation
      when s.visibility = 'workspace' and w.role is not null then 'shared'
      else 'none'
    end as tie,
    s.workspace_id as "workspaceId",
    w.role as "workspaceRole",
    s.status = 'deleted' as deleted,
    case when s.status in ('completed', 'failed') then s.status end as ended,
    guest_access_of(s.guest_access, s.workspace_id) as "guestAccess",
    s.device_id as "deviceId",
    s.started_at as "startedAt",
    (
      select max(e.expires_at) from content_elevations e
      where e.admin_id = ${principal} and ${ELEVATION_IS_ACTIVE}
        and ${coversSession(sql.fragment`s.id`, sql.fragment`s.workspace_id`)}
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

function toFacts(principal: Principal, { id, tie, ...row }: FactsRow): SessionFacts {
  return {
    kind: "session",
    id,
    workspaceId: row.workspaceId,
    relation: relationOf(principal, id, tie),
    workspaceRole: row.workspaceRole,
    deleted: row.deleted,
    ended: row.ended,
    guestAccess: row.guestAccess,
    deviceId: row.deviceId,
    startedAt: row.startedAt,
    elevatedUntil: row.elevatedUntil,
  };
}

function relationOf(
  principal: Principal,
  sessionId: string,
  tie: Exclude<SessionRelation, "guest">,
): SessionRelation {
  if (principal.kind === "user") return tie;
  return principal.kind === "guest" && principal.sessionId === sessionId ? "guest" : "none";
}
