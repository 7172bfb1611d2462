import { cpSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { SERVICE_ROLE, withClient } from "../../deploy/supervisor/postgres/roles.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import { createTestDatabase, type TestDatabase } from "../support/postgres.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";

const MIGRATIONS = resolve(import.meta.dirname, "../../src/postgres/migrations");
const OF_US = "relnamespace = 'public'::regnamespace";
const isNumbered = (name: string) => /^\d/.test(name);

/** What a schema consists of, as PostgreSQL says it itself, with the rights to it. */
const PARTS: Readonly<Record<string, string>> = {
  relations: `select relname, relkind, reloptions, relacl::text from pg_class where ${OF_US}`,
  // By place, as rows are copied by it where a backup is restored.
  columns: `select c.relname, row_number() over (partition by c.oid order by attnum) as place, attname,
      format_type(atttypid, atttypmod) as type, attnotnull, attidentity, attgenerated, attstorage,
      collname, pg_get_expr(adbin, adrelid) as value, attacl::text
    from pg_attribute a join pg_class c on c.oid = attrelid
      left join pg_attrdef on adrelid = attrelid and adnum = attnum
      left join pg_collation co on co.oid = attcollation
    where ${OF_US} and relkind = 'r' and attnum > 0 and not attisdropped`,
  constraints: `select relname, conname, contype, convalidated, pg_get_constraintdef(k.oid) as text
    from pg_constraint k join pg_class c on c.oid = conrelid where ${OF_US}`,
  indexes: `select indrelid::regclass::text as place, pg_get_indexdef(indexrelid) as text, indisvalid
    from pg_index join pg_class c on c.oid = indrelid where ${OF_US}`,
  triggers: `select pg_get_triggerdef(t.oid) as text, tgenabled
    from pg_trigger t join pg_class c on c.oid = tgrelid where ${OF_US} and not tgisinternal`,
  functions: `select pg_get_functiondef(oid) as text, proacl::text
    from pg_proc where pronamespace = 'public'::regnamespace`,
  sequences: `select sequencename, data_type::text, start_value, increment_by, cycle, last_value
    from pg_sequences where schemaname = 'public'`,
  comments: `select objoid::regclass::text, objsubid, description
    from pg_description join pg_class c on c.oid = objoid and classoid = 'pg_class'::regclass
    where ${OF_US}`,
  others: `select typname from pg_type where typnamespace = 'public'::regnamespace and typtype <> 'c'
      and typelem = 0
    union all select extname from pg_extension
    union all select polname from pg_policy
    union all select stxname from pg_statistic_ext
    union all select defaclacl::text from pg_default_acl`,
};

it("base file: comes to the same as all migrations that it contains, with the rows in it", async () => {
  const databases = await Promise.all([createTestDatabase(), createTestDatabase()]);
  try {
    const [one, other] = databases;
    const folder = makeScratchFolder("migrations");
    for (const from of [join(MIGRATIONS, "before-2.0"), MIGRATIONS]) {
      for (const name of readdirSync(from).filter(isNumbered)) {
        cpSync(join(from, name), join(folder, name));
      }
    }
    const begun = await begin(one);
    expect(begun[0]).toBe("base.sql");
    const grown = await begin(other, pathToFileURL(`${folder}/`));
    expect(grown).toEqual(readdirSync(folder).filter(isNumbered).sort());
    const [base, all] = [await describeDatabase(one), await describeDatabase(other)];
    for (const part of Object.keys(all)) expect(base[part], part).toEqual(all[part]);
    expect(all.columns?.length).toBeGreaterThan(400);
    expect(all.rows?.length).toBeGreaterThan(1_024);
  } finally {
    await Promise.all(databases.map((each) => each.drop()));
  }
});

async function begin(database: TestDatabase, folder?: URL): Promise<string[]> {
  const clean = "drop schema public cascade; create schema public";
  await withClient(database.ownerUrl, (client) => client.query(clean));
  const options = { serviceRole: SERVICE_ROLE, ...(folder && { folder }) };
  return (await migrate(database.ownerUrl, options)).applied;
}

/** All that is in a database, each part as sorted lines. */
function describeDatabase({ ownerUrl }: TestDatabase): Promise<Record<string, string[]>> {
  return withClient(ownerUrl, async (client) => {
    const lines = async (sql: string) =>
      (await client.query(sql)).rows.map((row) => JSON.stringify(row)).sort();
    const found: Record<string, string[]> = { rows: [] };
    for (const [part, sql] of Object.entries(PARTS)) found[part] = await lines(sql);
    const tables = await client.query<{ name: string }>(
      `select relname as name from pg_class where ${OF_US} and relkind = 'r' order by 1`,
    );
    for (const { name } of tables.rows) {
      const rows = await lines(
        `select '${name}' as place, to_jsonb(t) - 'applied_at' as row from ${name} t`,
      );
      found.rows?.push(...rows);
    }
    return found;
  });
}
