import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { updatedAt } from "../../postgres/instant.ts";
import { allOf, toPage } from "../../postgres/keyset.ts";
import type { Page, PageRequest } from "../../rest/page.ts";
import type {
  WorkshopChange,
  WorkshopDirectory,
  WorkshopFilter,
  WorkshopRecord,
} from "./workshops-directory.ts";

const workshopRow = z.object({
  id: z.string(),
  workspaceId: z.string(),
  name: z.string(),
  description: z.string(),
  createdAt: z.number(),
  updatedAt: z.number(),
});

const COLUMNS = sql.fragment`id, workspace_id as "workspaceId", name, description,
  created_at as "createdAt", updated_at as "updatedAt"`;

export class PostgresWorkshops implements WorkshopDirectory {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  insert(workshop: Omit<WorkshopRecord, "createdAt" | "updatedAt">): Promise<WorkshopRecord> {
    const { id, workspaceId, name, description } = workshop;
    return this.#pool.one(sql.type(workshopRow)`
      insert into workshops (id, workspace_id, name, description)
      values (${id}, ${workspaceId}, ${name}, ${description})
      returning ${COLUMNS}`);
  }

  async find(id: string): Promise<WorkshopRecord | undefined> {
    const row = await this.#pool.maybeOne(
      sql.type(workshopRow)`select ${COLUMNS} from workshops where id = ${id}`,
    );
    return row ?? undefined;
  }

  async list(filter: WorkshopFilter, page: PageRequest): Promise<Page<WorkshopRecord>> {
    const conditions = [sql.fragment`true`];
    if (page.after !== undefined) conditions.push(sql.fragment`id < ${page.after}::uuid`);
    if (filter.workspaceId !== undefined) {
      conditions.push(sql.fragment`workspace_id = ${filter.workspaceId}`);
    }
    if (filter.memberId !== undefined) {
      conditions.push(sql.fragment`workspace_id in (
        select workspace_id from workspace_members where user_id = ${filter.memberId})`);
    }
    const rows = await this.#pool.any(sql.type(workshopRow)`
      select ${COLUMNS} from workshops where ${allOf(conditions)}
      order by id desc limit ${page.limit + 1}`);
    return toPage(rows, page.limit, (workshop) => workshop.id);
  }

  async change(
    id: string,
    { name, description }: WorkshopChange,
    since?: number,
  ): Promise<WorkshopRecord | undefined> {
    const row = await this.#pool.maybeOne(sql.type(workshopRow)`
      update workshops
      set name = coalesce(${name ?? null}, name),
          description = coalesce(${description ?? null}, description),
          updated_at = now()
      where id = ${id} and ${updatedAt(since)}
      returning ${COLUMNS}`);
    return row ?? undefined;
  }

  async remove(id: string): Promise<void> {
    await this.#pool.query(sql.unsafe`delete from workshops where id = ${id}`);
  }
}
