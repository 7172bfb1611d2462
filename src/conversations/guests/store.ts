import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../../access/audit-entries-store.ts";
import { type ElevationInForce, elevationDetail } from "../../access/elevation.ts";
import { GUEST_ACCESS, type GuestAccess } from "../../access/policy.ts";
import { LookupBatcher } from "../../base/lookup-batcher.ts";
import { nameColumn, toInstant } from "../../postgres/columns.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import { type OutboxRow, outboxRow, writeOutbox } from "../../postgres/outbox.ts";
import type { GuestRecords, GuestStatus } from "../../tenancy/accounts/guest-records.ts";
import { holdElevation } from "../../tenancy/audit/elevation-store.ts";

/** A way into a session that stood when it was looked up. */
export interface Door {
  sessionId: string;
  /** The guest code that opens it; undefined for the session's id. */
  codeId?: string | undefined;
  access: GuestAccess;
}

interface NewGuest extends GuestStatus {
  codeId: string | undefined;
  /** The account whose token came along. */
  accountId: string | undefined;
  /** The one that let an administrator in; the guest ends with it. */
  elevation: ElevationInForce | undefined;
  /** SHA-256 of the secret by which the guest comes back; undefined where none was asked for. */
  returnHash: Uint8Array | undefined;
}

/**
 * `unknown`: there is no such way in any more, because the session was deleted, takes codes only,
 * or the code expired, was used up or taken back. `full`: as many guests as may be are there.
 * `unelevated`: the elevation has ended.
 */
type Admission =
  | { kind: "admitted"; outbox: OutboxRow[] }
  | { kind: "closed" }
  | { kind: "unknown" }
  | { kind: "full" }
  | { kind: "unelevated" };

const doorRow = z.object({
  sessionId: z.string(),
  codeId: optionalColumn(z.string()),
  access: z.enum(GUEST_ACCESS),
});
const sessionRow = z.object({ workspaceId: z.string() });
const accessRow = z.object({ access: z.enum(GUEST_ACCESS) });
const idRow = z.object({ id: z.string() });
const countRow = z.object({ present: z.number() });
const statusRow = z.object({
  guestId: z.string(),
  sessionId: z.string(),
  displayName: nameColumn,
  expiresAt: z.number(),
});

/** Class of the advisory locks that let guests into a session one after the other. */
const LOCK_CLASS = 72_041;

const ACCESS = sql.fragment`guest_access_of(s.guest_access, s.workspace_id)`;

/** SQL condition: the guest code `c` lets somebody in. */
const CODE_IS_ACTIVE = sql.fragment`c.revoked_at is null
  and (c.expires_at is null or c.expires_at > now())
  and (c.max_uses is null or c.uses < c.max_uses)`;

/** Guests of sessions in PostgreSQL. */
export class GuestStore implements GuestRecords {
  readonly #pool: DatabasePool;
  readonly #statuses: LookupBatcher<string, GuestStatus>;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
    this.#statuses = new LookupBatcher((ids) => this.#read(ids));
  }

  /** The door that a session's id opens; undefined where the session takes guest codes only. */
  async doorOfSession(sessionId: string): Promise<Door | undefined> {
    const door = await this.#pool.maybeOne(sql.type(doorRow)`
      select s.id as "sessionId", null as "codeId", ${ACCESS} as access
      from sessions s where s.id = ${sessionId} and s.status <> 'deleted'`);
    return door === null || door.access === "invitation" ? undefined : door;
  }

  /** The door that a guest code opens; undefined unless the code stands. */
  async doorOfCode(codeHash: Uint8Array): Promise<Door | undefined> {
    const door = await this.#pool.maybeOne(sql.type(doorRow)`
      select s.id as "sessionId", c.id as "codeId", ${ACCESS} as access
      from guest_codes c join sessions s on s.id = c.session_id
      where c.code_hash = ${sql.binary(Buffer.from(codeHash))} and s.status <> 'deleted'
        and ${CODE_IS_ACTIVE}`);
    return door ?? undefined;
  }

  /**
   * Lets a guest in: with the audit entry and the command that tells the session, in one
   * transaction. Guests of one session come in one after the other, at most `most` at once.
   */
  admit(guest: NewGuest, most: number): Promise<Admission> {
    const { guestId, sessionId, codeId, accountId, elevation, returnHash } = guest;
    const hash = returnHash === undefined ? null : sql.binary(Buffer.from(returnHash));
    return this.#pool.transaction(async (tx) => {
      await tx.query(sql.unsafe`
        select pg_advisory_xact_lock(${LOCK_CLASS}, hashtext(${sessionId}))`);
      const door = await holdDoor(tx, sessionId);
      if (door === undefined) return { kind: "unknown" };
      if (door.access === "invitation" && codeId === undefined) return { kind: "unknown" };
      if (door.access === "closed") return { kind: "closed" };
      if (elevation !== undefined && !(await holdElevation(tx, elevation.id))) {
        return { kind: "unelevated" };
      }
      if ((await countPresent(tx, sessionId)) >= most) return { kind: "full" };
      if (codeId !== undefined && !(await useCode(tx, codeId))) return { kind: "unknown" };
      await tx.query(sql.unsafe`
        insert into guests (id, session_id, code_id, elevation_id, display_name, expires_at,
          return_hash)
        values (${guestId}, ${sessionId}, ${codeId ?? null}, ${elevation?.id ?? null},
          ${guest.displayName}, ${toInstant(guest.expiresAt)}, ${hash})`);
      const row = outboxRow(sessionId, { type: "GuestStored", guestId });
      await writeOutbox(tx, row);
      await insertAuditEntry(tx, {
        kind: "guest_entered",
        actor: { kind: "guest", id: guestId },
        workspaceId: door.workspaceId,
        sessionId,
        subjectId: guestId,
        detail: {
          ...(codeId !== undefined && { code_id: codeId }),
          ...(accountId !== undefined && { account_id: accountId }),
          ...elevationDetail(elevation),
        },
      });
      return { kind: "admitted", outbox: [row] };
    });
  }

  /** The guest who was given the secret of this hash, as long as their access stands. */
  async returning(sessionId: string, returnHash: Uint8Array): Promise<GuestStatus | undefined> {
    const found = await this.#pool.maybeOne(sql.type(idRow)`
      select id from guests
      where return_hash = ${sql.binary(Buffer.from(returnHash))} and session_id = ${sessionId}
        and expires_at > now()`);
    return found === null ? undefined : this.status(found.id);
  }

  status(guestId: string): Promise<GuestStatus | undefined> {
    return this.#statuses.get(guestId);
  }

  /** Asks for the guest access as well: it may have changed without a word to the guests' rows. */
  async #read(ids: readonly string[]): Promise<(GuestStatus | undefined)[]> {
    const rows = await this.#pool.any(sql.type(statusRow)`
      select g.id as "guestId", g.session_id as "sessionId", g.display_name as "displayName",
        g.expires_at as "expiresAt"
      from active_guests g where g.id = any(${sql.array([...ids], "uuid")})`);
    const found = new Map(rows.map((row) => [row.guestId, row]));
    return ids.map((id) => found.get(id));
  }

  async revoke(guestId: string): Promise<void> {
    await this.#pool.query(sql.unsafe`
      update guests set revoked_at = now() where id = ${guestId} and revoked_at is null`);
  }

  /**
   * Makes `access` the installation's: it holds for every session that says nothing itself and
   * whose workspace says nothing. Guests whom it would not have let in are ended.
   */
  async settle(access: GuestAccess): Promise<void> {
    await this.#pool.query(sql.unsafe`
      update installation set guest_access = ${access} where guest_access <> ${access}`);
  }
}

/**
 * Locks what says how guests get into the session until this transaction ends, so that nobody comes
 * in after it was changed. Undefined when there is no such session.
 */
async function holdDoor(
  tx: CommonQueryMethods,
  sessionId: string,
): Promise<{ workspaceId: string; access: GuestAccess } | undefined> {
  const session = await tx.maybeOne(sql.type(sessionRow)`
    select s.workspace_id as "workspaceId"
    from sessions s join workspaces w on w.id = s.workspace_id
    where s.id = ${sessionId} and s.status <> 'deleted' for share`);
  if (session === null) return undefined;
  await tx.query(sql.unsafe`select from installation for share`);
  // A statement of its own: it sees what was committed while this one waited for the locks.
  const { access } = await tx.one(sql.type(accessRow)`
    select ${ACCESS} as access from sessions s where s.id = ${sessionId}`);
  return { workspaceId: session.workspaceId, access };
}

async function countPresent(tx: CommonQueryMethods, sessionId: string): Promise<number> {
  const { present } = await tx.one(sql.type(countRow)`
    select count(*)::int as present from guests
    where session_id = ${sessionId} and revoked_at is null and expires_at > now()`);
  return present;
}

/** Counts a use of the code; false when it does not stand. */
async function useCode(tx: CommonQueryMethods, codeId: string): Promise<boolean> {
  const used = await tx.maybeOne(sql.type(idRow)`
    update guest_codes c set uses = uses + 1 where c.id = ${codeId} and ${CODE_IS_ACTIVE} returning c.id`);
  return used !== null;
}

/** For whoever deletes a session. */
export async function endGuests(tx: CommonQueryMethods, { id }: { id: string }): Promise<void> {
  await tx.query(sql.unsafe`
    update guests set display_name = '', revoked_at = coalesce(revoked_at, now())
    where session_id = ${id}`);
  await tx.query(sql.unsafe`
    update guest_codes set revoked_at = now() where session_id = ${id} and revoked_at is null`);
}

/** Takes a guest out of a session; false when there is none with this id. */
export async function removeGuest(
  tx: CommonQueryMethods,
  { sessionId, id }: { sessionId: string; id: string },
): Promise<boolean> {
  const { rowCount } = await tx.query(sql.unsafe`
    update guests set revoked_at = now(), removed_at = now()
    where id = ${id} and session_id = ${sessionId} and revoked_at is null`);
  return rowCount > 0;
}
