import { type DatabasePool, type FragmentSqlToken, sql } from "slonik";
import { z } from "zod";
import { updatedAt } from "../../postgres/instant.ts";
import { allOf, toPage } from "../../postgres/keyset.ts";
import type { Page, PageRequest } from "../../rest/page.ts";
import type {
  CharacterChange,
  CharacterDirectory,
  CharacterRecord,
  NameSuggestions,
} from "./workshops-directory.ts";

const characterRow = z.object({
  id: z.string(),
  workshopId: z.string(),
  name: z.string(),
  description: z.string(),
  isActive: z.boolean(),
  createdAt: z.number(),
  updatedAt: z.number(),
});

const COLUMNS = sql.fragment`id, workshop_id as "workshopId", name, description,
  is_active as "isActive", created_at as "createdAt", updated_at as "updatedAt"`;

export class PostgresCharacters implements CharacterDirectory, NameSuggestions {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  insert(character: Omit<CharacterRecord, "createdAt" | "updatedAt">): Promise<CharacterRecord> {
    const { id, workshopId, name, description, isActive } = character;
    return this.#pool.one(sql.type(characterRow)`
      insert into workshop_characters (id, workshop_id, name, description, is_active)
      values (${id}, ${workshopId}, ${name}, ${description}, ${isActive})
      returning ${COLUMNS}`);
  }

  async find(workshopId: string, id: string): Promise<CharacterRecord | undefined> {
    const row = await this.#pool.maybeOne(sql.type(characterRow)`
      select ${COLUMNS} from workshop_characters
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
      select ${COLUMNS} from workshop_characters where ${allOf(conditions)}
      order by id desc limit ${page.limit + 1}`);
    return toPage(rows, page.limit, (character) => character.id);
  }

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
      returning ${COLUMNS}`);
    return row ?? undefined;
  }

  async remove(id: string): Promise<void> {
    await this.#pool.query(sql.unsafe`delete from workshop_characters where id = ${id}`);
  }

  async namesFor(sessionId: string): Promise<string[]> {
    const workshop = sql.fragment`(select workshop_id from sessions where id = ${sessionId})`;
    const row = z.object({ name: z.string() });
    return [...(await this.#pool.anyFirst(sql.type(row)`${activeNames(workshop)}`))];
  }
}

/** `name` of a workshop's active characters, in the order of the alphabet; its id is an expression. */
export function activeNames(workshopId: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`
    select distinct c.name from workshop_characters c
    where c.workshop_id = ${workshopId} and c.is_active
    order by c.name limit 500`;
}
