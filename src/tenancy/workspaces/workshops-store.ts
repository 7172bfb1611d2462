import { type DatabasePool, type FragmentSqlToken, sql } from "slonik";
import { z } from "zod";
import { allOf, toPage, updatedAt } from "../../postgres/columns.ts";
import type { Page, PageRequest } from "../../rest/page.ts";

/**
 * A workshop of a workspace, with the characters that appear in it. Times are Unix milliseconds.
 */
export interface WorkshopRecord {
  id: string;
  workspaceId: string;
  name: string;
  description: string;
  createdAt: number;
  updatedAt: number;
}

export interface CharacterRecord {
  id: string;
  workshopId: string;
  name: string;
  description: string;
  isActive: boolean;
  createdAt: number;
  updatedAt: number;
}

interface WorkshopFilter {
  workspaceId?: string | undefined;
  /** Only workshops of workspaces that this user belongs to. */
  memberId?: string | undefined;
}

/** A change of a workshop; absent members stay as they are. */
interface WorkshopChange {
  name?: string | undefined;
  description?: string | undefined;
}

interface CharacterChange extends WorkshopChange {
  isActive?: boolean | undefined;
}

const characterRow = z.object({
  id: z.string(),
  workshopId: z.string(),
  name: z.string(),
  description: z.string(),
  isActive: z.boolean(),
  createdAt: z.number(),
  updatedAt: z.number(),
});

const CHARACTER_COLUMNS = sql.fragment`id, workshop_id as "workshopId", name, description,
  is_active as "isActive", created_at as "createdAt", updated_at as "updatedAt"`;

/**
 * Characters of workshops, newest first in lists, and the names suggested for a session's speakers.
 * Every method throws `unavailable` when storage is away.
 */
export class CharacterStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  insert(character: Omit<CharacterRecord, "createdAt" | "updatedAt">): Promise<CharacterRecord> {
    const { id, workshopId, name, description, isActive } = character;
    return this.#pool.one(sql.type(characterRow)`
      insert into workshop_characters (id, workshop_id, name, description, is_active)
      values (${id}, ${workshopId}, ${name}, ${description}, ${isActive})
      returning ${CHARACTER_COLUMNS}`);
  }

  async find(workshopId: string, id: string): Promise<CharacterRecord | undefined> {
    const row = await this.#pool.maybeOne(sql.type(characterRow)`
      select ${CHARACTER_COLUMNS} from workshop_characters
      where id = ${id} and workshop_id = ${workshopId}`);
    return row ?? undefined;
  }

  async list(
    workshopId: string,
    active: boolean | undefined,
    page: PageRequest,
  ): Promise<Page<CharacterRecord>> {
    const conditions = [sql.fragment`workshop_id = ${workshopId}`];
    if (page.after !== undefined) conditions.push(sql.fragment`id < ${page.after}::uuid`);
    if (active !== undefined) conditions.push(sql.fragment`is_active = ${active}`);
    const rows = await this.#pool.any(sql.type(characterRow)`
      select ${CHARACTER_COLUMNS} from workshop_characters where ${allOf(conditions)}
      order by id desc limit ${page.limit + 1}`);
    return toPage(rows, page.limit, (character) => character.id);
  }

  /**
   * Undefined, and nothing is changed, when the character was deleted, or changed after `since`.
   */
  async change(
    id: string,
    { name, description, isActive }: CharacterChange,
    since?: number,
  ): Promise<CharacterRecord | undefined> {
    const row = await this.#pool.maybeOne(sql.type(characterRow)`
      update workshop_characters
      set name = coalesce(${name ?? null}, name),
          description = coalesce(${description ?? null}, description),
          is_active = coalesce(${isActive ?? null}, is_active),
          updated_at = now()
      where id = ${id} and ${updatedAt(since)}
      returning ${CHARACTER_COLUMNS}`);
    return row ?? undefined;
  }

  async remove(id: string): Promise<void> {
    await this.#pool.query(sql.unsafe`delete from workshop_characters where id = ${id}`);
  }

  /** Names of the active characters of the session's workshop; empty without a workshop. */
  async namesFor(sessionId: string): Promise<string[]> {
    const workshop = sql.fragment`(select workshop_id from sessions where id = ${sessionId})`;
    const row = z.object({ name: z.string() });
    return [...(await this.#pool.anyFirst(sql.type(row)`${activeNames(workshop)}`))];
  }
}

/**
 * SQL for the `name` of a workshop's active characters in alphabetical order; `workshopId` is an
 * expression.
 */
export function activeNames(workshopId: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`
    select distinct c.name from workshop_characters c
    where c.workshop_id = ${workshopId} and c.is_active
    order by c.name limit 500`;
}

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

/** Workshops, newest first in lists. Every method throws `unavailable` when storage is away. */
export class WorkshopStore {
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

  /** Undefined, and nothing is changed, when the workshop was deleted, or changed after `since`. */
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

  /** Deletes the workshop with its characters; linked sessions lose their link. */
  async remove(id: string): Promise<void> {
    await this.#pool.query(sql.unsafe`delete from workshops where id = ${id}`);
  }
}
