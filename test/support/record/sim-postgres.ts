import { SERVICE_ROLE, withClient } from "../../../deploy/supervisor/postgres/roles.ts";
import { migrate } from "../../../src/store/migrate.ts";
import {
  cloneTemplate,
  createTemplate,
  startPostgres,
  type TestDatabase,
  type TestPostgres,
  templateUrl,
} from "../postgres.ts";

/** As the server's search path has it before its own functions. */
export const TIME_SCHEMA = "sim";

/**
 * The database's time comes from outside: what it is now is a sequence, which everybody sees as it
 * stands, and the beginning of a transaction is told to it. Microseconds since the epoch.
 */
const TIME = `
  create schema ${TIME_SCHEMA};
  create sequence ${TIME_SCHEMA}.clock;
  create function ${TIME_SCHEMA}.clock_timestamp() returns timestamptz
  language sql volatile as $$
    select to_timestamp((select last_value from ${TIME_SCHEMA}.clock) / 1000000.0)
  $$;
  create function ${TIME_SCHEMA}.now() returns timestamptz language sql stable as $$
    select to_timestamp(coalesce(
      nullif(current_setting('sim.began', true), '')::bigint,
      (select last_value from ${TIME_SCHEMA}.clock)) / 1000000.0)
  $$;
  grant usage on schema ${TIME_SCHEMA} to ${SERVICE_ROLE};
  grant select, update on sequence ${TIME_SCHEMA}.clock to ${SERVICE_ROLE};`;

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
        regexp_replace(found.expression, '(pg_catalog\\.)?now\\(\\)', '${TIME_SCHEMA}.now()', 'g'));
    end loop;
  end
  $$`;

/** PostgreSQL for simulations: in memory, without a disk to wait for, and with their time. */
export class SimPostgres {
  readonly #server: TestPostgres;

  private constructor(server: TestPostgres) {
    this.#server = server;
  }

  static async start(): Promise<SimPostgres> {
    const server = await startPostgres({ inMemory: true });
    try {
      await createTemplate(server.access, (ownerUrl) =>
        migrate(ownerUrl, { serviceRole: SERVICE_ROLE }),
      );
      await withClient(templateUrl(server.access), async (client) => {
        // Real time, and who waits in a circle is to find it out at once.
        await client.query("alter system set deadlock_timeout = '10ms'");
        await client.query("select pg_reload_conf()");
      });
    } catch (error) {
      await server.stop();
      throw error;
    }
    return new SimPostgres(server);
  }

  /** Each seed has its own. */
  async open(): Promise<TestDatabase> {
    const database = await cloneTemplate(this.#server.access);
    await takeTime(database);
    return database;
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }
}

/** From now on the database's time is what it is told, for each new connection. */
export async function takeTime({ ownerUrl }: TestDatabase): Promise<void> {
  await withClient(ownerUrl, async (client) => {
    await client.query(TIME);
    await client.query(DEFAULTS);
    const name = client.escapeIdentifier(client.database ?? "");
    await client.query(
      `alter database ${name} set search_path = ${TIME_SCHEMA}, public, pg_catalog`,
    );
  });
}
