import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import type { ElevatedGrant } from "../../../access/elevation.ts";

/** Most owners that are told of one grant. */
const MOST = 100;

const grantorRow = z.object({ name: z.string(), email: z.string() });
const ownerRow = z.object({ email: z.string(), place: z.string() });

/** Whom to tell what an administrator gave. */
export class OwnerNoticeStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  grantor({ adminId }: ElevatedGrant): Promise<{ name: string; email: string }> {
    return this.#pool.one(sql.type(grantorRow)`
      select name, email from users where id = ${adminId}`);
  }

  /**
   * The owners besides the administrator himself and the receiver who can sign in, each with the name of the
   * workspace, or the day of the session.
   */
  async owners({
    adminId,
    receiverId,
    of,
  }: ElevatedGrant): Promise<readonly z.infer<typeof ownerRow>[]> {
    if ("sessionId" in of) {
      return this.#pool.any(sql.type(ownerRow)`
        select u.email, to_char(s.started_at at time zone 'UTC', 'YYYY-MM-DD') as place
        from sessions s join users u on u.id = s.owner_id
        where s.id = ${of.sessionId} and u.disabled_at is null and u.id <> ${adminId}`);
    }
    const concerned =
      "moderatorId" in of
        ? sql.fragment`select workspace_id from workspace_members where user_id = ${of.moderatorId}`
        : sql.fragment`${"workspaceId" in of ? of.workspaceId : of.guestsOfWorkspaceId}::uuid`;
    return this.#pool.any(sql.type(ownerRow)`
      select distinct on (u.id) u.email, w.name as place
      from workspace_members m
      join workspaces w on w.id = m.workspace_id
      join users u on u.id = m.user_id
      where m.workspace_id in (${concerned}) and m.role = 'owner'
        and u.disabled_at is null and u.id <> ${adminId}
        and u.id is distinct from ${receiverId ?? null}::uuid
      order by u.id, w.id limit ${MOST}`);
  }
}
