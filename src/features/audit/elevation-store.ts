import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { insertAuditEntry } from "../../access/audit-entries-store.ts";
import type { Principal, UserPrincipal } from "../../access/principal.ts";
import { AppError } from "../../base/errors.ts";
import { optionalColumn, toInstant } from "../../postgres/columns.ts";

/** An administrator's reason to see content, for a while. Times are Unix milliseconds. */
interface Elevation {
  id: string;
  adminId: string;
  /** Undefined when it covers all sessions. */
  sessionId?: string | undefined;
  reason: string;
  expiresAt: number;
}

const idRow = z.object({ id: z.string() });
const endedRow = z.object({
  adminId: z.string(),
  sessionId: optionalColumn(z.string()),
  ended: z.boolean(),
});

/**
 * Elevations in PostgreSQL. Each is written together with its audit entry: none is in force without
 * one. Every method throws `unavailable` when storage is away.
 */
export class ElevationStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /** False, and nothing is written, when there is no such session or it was deleted. */
  open(elevation: Elevation): Promise<boolean> {
    const { id, adminId, sessionId, reason, expiresAt } = elevation;
    return this.#pool.transaction(async (tx) => {
      if (sessionId !== undefined) {
        const known = await tx.maybeOne(sql.type(idRow)`
          select id from sessions where id = ${sessionId} and status <> 'deleted'`);
        if (known === null) return false;
      }
      await tx.query(sql.unsafe`
        insert into content_elevations (id, admin_id, session_id, reason, expires_at)
        values (${id}, ${adminId}, ${sessionId ?? null}, ${reason}, ${toInstant(expiresAt)})`);
      await insertAuditEntry(tx, {
        kind: "content_elevated",
        actor: { kind: "user", id: adminId },
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
        select admin_id as "adminId", session_id as "sessionId",
          ended_at is not null or expires_at <= now() as ended
        from content_elevations where id = ${elevationId} for update`);
      if (known === null) return undefined;
      const { adminId, sessionId, ended } = known;
      if (ended) return { adminId };
      await tx.query(sql.unsafe`
        update content_elevations set ended_at = now() where id = ${elevationId}`);
      await insertAuditEntry(tx, {
        kind: "content_elevation_ended",
        actor: { kind: "user", id: by.id },
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
    select id from content_elevations
    where admin_id = ${principal.id} and (session_id is null or session_id = ${sessionId})
      and ended_at is null and expires_at > now()
    order by session_id is null, expires_at desc limit 1`);
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
