import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../../access/audit-entries-store.ts";
import type { ElevationInForce, ElevationScope } from "../../access/elevation.ts";
import type { Principal, UserPrincipal } from "../../access/principal.ts";
import { AppError } from "../../base/errors.ts";
import { toInstant } from "../../postgres/columns.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";

/** An administrator's reason to see content, for a while. Times are Unix milliseconds. */
interface Elevation {
  id: string;
  adminId: string;
  /** Without session and workspace it covers all sessions; it never has both. */
  sessionId?: string | undefined;
  /** Covers the workspace with all its sessions. */
  workspaceId?: string | undefined;
  reason: string;
  expiresAt: number;
}

const idRow = z.object({ id: z.string() });
const inForceRow = z.object({ id: z.string(), reason: z.string(), expiresAt: z.number() });
const endedRow = z.object({
  adminId: z.string(),
  sessionId: optionalColumn(z.string()),
  workspaceId: optionalColumn(z.string()),
  ended: z.boolean(),
});

/** SQL order: the narrowest elevation first, of several the one that lasts longest. */
const NARROWEST = sql.fragment`
  e.session_id is null, e.workspace_id is null, e.expires_at desc`;

/**
 * Elevations in PostgreSQL. Each is written together with its audit entry: none is in force without
 * one. Every method throws `unavailable` when storage is away.
 */
export class ElevationStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /** The narrowest elevation of this administrator that covers the place; undefined without one. */
  async inForce(
    adminId: string,
    { sessionId, workspaceId }: ElevationScope,
  ): Promise<ElevationInForce | undefined> {
    const row = await this.#pool.maybeOne(sql.type(inForceRow)`
      select id, reason, expires_at as "expiresAt"
      from elevations_of(${adminId}, ${sessionId ?? null}::uuid, ${workspaceId ?? null}::uuid) e
      order by ${NARROWEST} limit 1`);
    return row ?? undefined;
  }

  /** False, and nothing is written, when there is no such session or workspace, or not any more. */
  open(elevation: Elevation): Promise<boolean> {
    const { id, adminId, sessionId, workspaceId, reason, expiresAt } = elevation;
    return this.#pool.transaction(async (tx) => {
      if (sessionId !== undefined) {
        const known = await tx.maybeOne(sql.type(idRow)`
          select id from sessions where id = ${sessionId} and status <> 'deleted'`);
        if (known === null) return false;
      }
      if (workspaceId !== undefined) {
        const known = await tx.maybeOne(sql.type(idRow)`
          select id from workspaces where id = ${workspaceId} and deleted_at is null`);
        if (known === null) return false;
      }
      await tx.query(sql.unsafe`
        insert into content_elevations
          (id, admin_id, session_id, workspace_id, reason, expires_at)
        values (${id}, ${adminId}, ${sessionId ?? null}, ${workspaceId ?? null}, ${reason},
          ${toInstant(expiresAt)})`);
      await insertAuditEntry(tx, {
        kind: "content_elevated",
        actor: { kind: "user", id: adminId },
        workspaceId,
        sessionId,
        subjectId: id,
        detail: { reason, expires_at: new Date(expiresAt).toISOString() },
      });
      return true;
    });
  }

  /**
   * Ends an elevation; repeatable. Returns the administrator whose elevation it was, undefined when
   * there is no such elevation.
   */
  end(elevationId: string, by: UserPrincipal): Promise<{ adminId: string } | undefined> {
    return this.#pool.transaction(async (tx) => {
      const known = await tx.maybeOne(sql.type(endedRow)`
        select admin_id as "adminId", session_id as "sessionId", workspace_id as "workspaceId",
          ended_at is not null or expires_at <= now() as ended
        from content_elevations where id = ${elevationId} for update`);
      if (known === null) return undefined;
      const { adminId, sessionId, workspaceId, ended } = known;
      if (ended) return { adminId };
      await tx.query(sql.unsafe`
        update content_elevations set ended_at = now() where id = ${elevationId}`);
      await insertAuditEntry(tx, {
        kind: "content_elevation_ended",
        actor: { kind: "user", id: by.id },
        workspaceId,
        sessionId,
        subjectId: elevationId,
      });
      return { adminId };
    });
  }
}

/**
 * Writes that content was read, with the elevation that allowed it. Throws `elevation_required`
 * when none is in force any more.
 */
export async function recordElevatedRead(
  connection: CommonQueryMethods,
  principal: Principal,
  sessionId: string,
  action: string,
): Promise<void> {
  const elevation = await connection.maybeOne(sql.type(idRow)`
    select e.id
    from sessions s cross join lateral elevations_of(${principal.id}, s.id, s.workspace_id) e
    where s.id = ${sessionId}
    order by ${NARROWEST} limit 1`);
  if (elevation === null) {
    throw new AppError("elevation_required", "The content elevation has ended.");
  }
  await insertAuditEntry(connection, {
    kind: "content_read",
    actor: { kind: principal.kind, id: principal.id },
    sessionId,
    subjectId: elevation.id,
    detail: { action },
  });
}

/**
 * Keeps the elevation from being ended, and its holder from losing the role, until this transaction
 * ends. False when either has happened.
 */
export async function holdElevation(
  connection: CommonQueryMethods,
  elevationId: string,
): Promise<boolean> {
  const held = await connection.maybeOne(sql.type(idRow)`
    select e.id from active_elevations e join active_users u on u.id = e.admin_id
    where e.id = ${elevationId} and u.role = 'admin'
    for share`);
  return held !== null;
}

/** Ends the elevations of an account that is erased. */
export async function endElevationsOf(tx: CommonQueryMethods, userId: string): Promise<void> {
  await tx.query(sql.unsafe`
    update content_elevations set ended_at = now()
    where admin_id = ${userId} and ended_at is null`);
}

/** For whoever deletes a session. */
export async function endElevationsTo(
  tx: CommonQueryMethods,
  { id }: { id: string },
): Promise<void> {
  await tx.query(sql.unsafe`
    update content_elevations set ended_at = now() where session_id = ${id} and ended_at is null`);
}
