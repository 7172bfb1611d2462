import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { foreignWrites, TABLES, tablesOf, writesOf } from "../../house/table-owners.ts";

const PROJECT = resolve(import.meta.dirname, "../../..");
const MIGRATIONS = join(PROJECT, "src/postgres/migrations");

/** Some hundred files are parsed, which takes longer on a busy machine. */
const PARSING_MS = 120_000;

describe("tables", () => {
  it("tables: each has one owner, a folder that is there", () => {
    const later = readdirSync(MIGRATIONS).filter((name) => /^\d.*\.sql$/.test(name));
    const files = ["base.sql", ...later.sort()];
    const tables = tablesOf(files.map((name) => readFileSync(join(MIGRATIONS, name), "utf8")));
    expect(Object.values(TABLES).flat().sort()).toEqual(tables);
    for (const folder of Object.keys(TABLES)) readdirSync(join(PROJECT, "src", folder));
  });

  it(
    "tables: only the owner of a table writes it",
    () => {
      expect(foreignWrites(PROJECT)).toEqual([]);
    },
    PARSING_MS,
  );

  it("tables: writes are found in statements alone, whatever their form", () => {
    const text = [
      "const a = sql.fragment`with x as (insert into one (id) values (1) returning id)`;",
      "await tx.query(sql.unsafe`delete from two t using x where t.id = x.id`);",
      "sql.type(row)`update three as t set a = 1 where b for update of t`;",
      "sql.unsafe`insert into one values (1) on conflict (id) do update set a = 2`;",
      `sql.unsafe\`update \${sql.identifier([table])} set a = 1\`; sql.unsafe\`select 1 for update\`;`,
      'const told = "delete from four"; // update five set a',
    ].join("\n");
    expect(writesOf("a.ts", text)).toEqual(["a.ts one", "a.ts two", "a.ts three", "a.ts ?"]);
  });
});
