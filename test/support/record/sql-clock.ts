import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "pg";
import { SERVICE_ROLE } from "../../../deploy/supervisor/postgres/roles.ts";

/** As the server's search path has it before its own functions. */
const SCHEMA = "sim";
export const SEARCH_PATH = `${SCHEMA}, public, pg_catalog`;
const NOW = "now";

/**
 * The database's time comes from outside, in files, as telling it by a statement would cost as
 * much as what is asked for: what it is now, and for each process there when its transaction
 * began. Microseconds since the epoch. Only a superuser may read files.
 */
const functions = (folder: string): string => `
  create schema ${SCHEMA};
  create function ${SCHEMA}.told(name text) returns bigint
  language sql volatile security definer as $$
    select nullif(pg_read_file(
      format('${folder}/%s/%s', current_database(), name), 0, 100, true), '')::bigint
  $$;
  create function ${SCHEMA}.clock_timestamp() returns timestamptz
  language sql volatile as $$
    select to_timestamp(${SCHEMA}.told('${NOW}') / 1000000.0)
  $$;
  create function ${SCHEMA}.now() returns timestamptz language sql stable as $$
    select to_timestamp(coalesce(
      ${SCHEMA}.told(pg_backend_pid()::text), ${SCHEMA}.told('${NOW}')) / 1000000.0)
  $$;
  grant usage on schema ${SCHEMA} to ${SERVICE_ROLE};`;

/** Defaults know their functions by number, not by name. */
const DEFAULTS = `
  do $$
  declare
    found record;
  begin
    for found in
      select a.attrelid::regclass as place, a.attname as name,
        pg_get_expr(d.adbin, d.adrelid) as expression
      from pg_attrdef d join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
      where a.attgenerated = '' and pg_get_expr(d.adbin, d.adrelid) like '%now()%'
    loop
      execute format('alter table %s alter column %I set default %s', found.place, found.name,
        regexp_replace(found.expression, '(pg_catalog\\.)?now\\(\\)', '${SCHEMA}.now()', 'g'));
    end loop;
  end
  $$`;

/** From now on the time of this database, and of its copies, is what the folder says. */
export async function installTime(superuser: Client, folder: string): Promise<void> {
  await superuser.query(functions(folder));
  await superuser.query(DEFAULTS);
}

/** Tells one database its time. */
export class SqlClock {
  readonly #folder: string;
  readonly #now: number;

  /** @param parent the folder that the database was told of */
  constructor(parent: string, database: string) {
    this.#folder = join(parent, database);
    mkdirSync(this.#folder);
    this.#now = openSync(join(this.#folder, NOW), "w", 0o644);
  }

  /** Always of the same length, so that nobody reads half of it. */
  tell(microseconds: number): void {
    writeSync(this.#now, `${microseconds}`, 0);
  }

  /** A transaction of this process at the server begins. */
  begin(pid: number, microseconds: number): void {
    writeFileSync(join(this.#folder, `${pid}`), `${microseconds}`, { mode: 0o644 });
  }

  /** It is over. */
  end(pid: number): void {
    rmSync(join(this.#folder, `${pid}`), { force: true });
  }

  close(): void {
    closeSync(this.#now);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
