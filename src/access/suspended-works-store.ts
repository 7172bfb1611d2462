import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { ISSUER_IS_ACTIVE } from "./key-issuer-store.ts";

const countsRow = z.object({ keys: z.number(), devices: z.number(), webhooks: z.number() });

/** What people made and what is suspended while they have no right to it. */
export class SuspendedWorkStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /**
   * A sentence that tells how many keys, devices and webhooks of the user are suspended now, with a
   * space before it; "" when there are none.
   *
   * @param workspaceId only those of this workspace
   */
  async describe(userId: string, workspaceId?: string): Promise<string> {
    const here = sql.fragment`(${workspaceId ?? null}::uuid is null
      or workspace_id = ${workspaceId ?? null}::uuid)`;
    const counts = await this.#pool.one(sql.type(countsRow)`
      with maker as (select * from users where id = ${userId}),
      keys as (
        select k.id from service_keys k
        where revoked_at is null and ${here} and exists (
            select from service_key_secrets s
            where s.key_id = k.id and s.made_by = ${userId} and s.expires_at > now()
              and not ${ISSUER_IS_ACTIVE}))
      select (select count(*) from keys) as keys,
        (select count(*) from devices d, maker u
         where d.owner_id = u.id and d.status = 'paired' and ${here}
           and not (u.disabled_at is null and (u.role = 'admin' or exists (
             select from workspace_members m
             where m.workspace_id = d.workspace_id and m.user_id = u.id)))) as devices,
        (select count(*) from webhooks w, maker u
         where ${here} and (w.made_by_key in (select id from keys)
           or w.made_by = u.id and not (u.disabled_at is null and (u.role = 'admin' or exists (
             select from workspace_members m
             where m.workspace_id = w.workspace_id and m.user_id = u.id
               and m.role = 'owner'))))) as webhooks`);
    return sentence(counts);
  }
}

function sentence({ keys, devices, webhooks }: z.infer<typeof countsRow>): string {
  const parts = [
    counted(keys, "service key"),
    counted(devices, "device"),
    counted(webhooks, "webhook"),
  ].filter((part) => part !== "");
  if (parts.length === 0) return "";
  const last = parts.pop() ?? "";
  const all = parts.length === 0 ? last : `${parts.join(", ")} and ${last}`;
  return ` Of this user ${all} ${keys + devices + webhooks === 1 ? "is" : "are"} suspended; an owner can take keys and webhooks over, and pair devices anew.`;
}

function counted(count: number, what: string): string {
  if (count === 0) return "";
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
