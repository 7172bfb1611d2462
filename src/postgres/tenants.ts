import { type DatabasePool, type FragmentSqlToken as Fragment, sql } from "slonik";
import { z } from "zod";
import { LookupBatcher } from "../base/lookup-batcher.ts";

/** How long an answer is kept, milliseconds: a workspace seldom changes its owner. */
const KEPT_MS = 60_000;
const MOST_KEPT = 10_000;

/**
 * SQL for the tenant of a workspace: the account that owns it, of several the first. Anybody makes
 * workspaces, so what is shared is shared by accounts.
 *
 * @param workspaceId a column of the enclosing query, or a value
 */
export function tenantOf(workspaceId: Fragment): Fragment {
  return sql.fragment`(
    select m.user_id from workspace_members m
    where m.workspace_id = ${workspaceId} and m.role = 'owner'
    order by m.created_at, m.user_id limit 1)`;
}

const tenantRow = z.object({ id: z.string(), tenant: z.string() });

type Kind = "sessions" | "workspaces";

/** Whose a session is, for fair shares of what all tenants use. */
export class Tenants {
  readonly #pool: DatabasePool;
  readonly #asked: Readonly<Record<Kind, LookupBatcher<string, string>>>;
  readonly #kept = new Map<string, { tenant: string; until: number }>();

  constructor(pool: DatabasePool) {
    this.#pool = pool;
    this.#asked = {
      sessions: new LookupBatcher((ids) => this.#ofSessions(ids)),
      workspaces: new LookupBatcher((ids) => this.#ofWorkspaces(ids)),
    };
  }

  /**
   * The account that owns the session's workspace; where nobody does the workspace, and for a session
   * that is not there its own id. Throws `unavailable` when storage is away.
   */
  ofSession(sessionId: string): Promise<string> {
    return this.#of("sessions", sessionId);
  }

  /** The account that owns the workspace, else its own id. Throws like `ofSession`. */
  ofWorkspace(workspaceId: string): Promise<string> {
    return this.#of("workspaces", workspaceId);
  }

  async #of(kind: Kind, id: string): Promise<string> {
    const now = performance.now();
    const known = this.#kept.get(id);
    if (known !== undefined && known.until > now) return known.tenant;
    const tenant = (await this.#asked[kind].get(id)) ?? id;
    // The oldest goes first.
    const [oldest] = this.#kept.keys();
    if (this.#kept.size >= MOST_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    this.#kept.delete(id);
    this.#kept.set(id, { tenant, until: now + KEPT_MS });
    return tenant;
  }

  async #ofWorkspaces(ids: readonly string[]): Promise<(string | undefined)[]> {
    const rows = await this.#pool.any(sql.type(tenantRow)`
      select w.id, coalesce(${tenantOf(sql.fragment`w.id`)}, w.id) as tenant
      from workspaces w where w.id = any(${sql.array([...ids], "uuid")})`);
    const found = new Map(rows.map(({ id, tenant }) => [id, tenant]));
    return ids.map((id) => found.get(id));
  }

  async #ofSessions(ids: readonly string[]): Promise<(string | undefined)[]> {
    const rows = await this.#pool.any(sql.type(tenantRow)`
      select s.id, coalesce(${tenantOf(sql.fragment`s.workspace_id`)}, s.workspace_id) as tenant
      from sessions s where s.id = any(${sql.array([...ids], "uuid")})`);
    const found = new Map(rows.map(({ id, tenant }) => [id, tenant]));
    return ids.map((id) => found.get(id));
  }
}
