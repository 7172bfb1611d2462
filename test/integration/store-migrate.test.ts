import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SERVICE_ROLE, withClient } from "../../deploy/supervisor/postgres/roles.ts";
import { silentLog } from "../../src/base/log.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import { createTestDatabase, type TestDatabase } from "../support/postgres.ts";
import { until } from "../support/until.ts";

const run = promisify(execFile);
const IS_SLEEPING =
  "select from pg_stat_activity where query like '%pg_sleep%' and state = 'active' and pid <> pg_backend_pid()";
const SETUP = resolve(import.meta.dirname, "../../src/roles/setup.ts");

describe("migrate", () => {
  let database: TestDatabase;
  let scratch: string;
  let folder: URL;

  beforeEach(async () => {
    database = await createTestDatabase();
    await query("drop schema public cascade; create schema public");
    scratch = mkdtempSync(join(tmpdir(), "migrations-"));
    folder = pathToFileURL(`${scratch}/`);
    write("0001_first.sql", "create table first (id bigint generated always as identity)");
    write("0002_second.sql", "create table second (id int); insert into second values (1)");
  });

  afterEach(async () => {
    rmSync(scratch, { recursive: true, force: true });
    await database.drop();
  });

  function write(name: string, sql: string): void {
    writeFileSync(join(scratch, name), sql);
  }

  function query(sql: string, url = database.ownerUrl) {
    return withClient(url, (client) => client.query(sql));
  }

  it("files: applied in order, once, also when eight processes start at once", async () => {
    const results = await Promise.all(
      Array.from({ length: 8 }, () => migrate(database.ownerUrl, { folder })),
    );
    const applied = results.flatMap((result) => result.applied);
    expect(applied).toEqual(["0001_first.sql", "0002_second.sql"]);
    expect((await query("select count(*)::int as n from second")).rows).toEqual([{ n: 1 }]);
    expect(await migrate(database.ownerUrl, { folder })).toEqual({ applied: [] });
  });

  it("files: who comes while others migrate for long waits, tells so, and gives up one day", async () => {
    write("0003_slow.sql", "select pg_sleep(2)");
    const told: unknown[] = [];
    const log = { ...silentLog, info: (fields: object) => void told.push(fields) };
    const slow = migrate(database.ownerUrl, { folder });
    await until(async () => (await query(IS_SLEEPING)).rows.length > 0, "the slow one");
    const hasty = migrate(database.ownerUrl, { folder, wait: { longest: 400, told: 200 } });
    await expect(hasty).rejects.toThrow("Another process has been migrating");
    const wait = { longest: 60_000, told: 100 };
    expect(await migrate(database.ownerUrl, { folder, wait, log })).toEqual({ applied: [] });
    expect(told).toContainEqual({ waited_ms: 200 });
    expect((await slow).applied).toHaveLength(3);
  });

  it("files: one that was changed after it was applied is an error that names it", async () => {
    await migrate(database.ownerUrl, { folder });
    write("0001_first.sql", "create table other (id int)");
    await expect(migrate(database.ownerUrl, { folder })).rejects.toThrow("0001_first.sql was");
  });

  it("files: a failing one leaves nothing of itself, those before it stay", async () => {
    write("0003_third.sql", "create table third (id int); select 1/0");
    await expect(migrate(database.ownerUrl, { folder })).rejects.toThrow(
      "0003_third.sql failed: division by zero",
    );
    const { rows } = await query("select to_regclass('second') as b, to_regclass('third') as c");
    expect(rows).toEqual([{ b: "second", c: null }]);
  });

  it("files: a database ahead of the program is refused", async () => {
    await migrate(database.ownerUrl, { folder });
    rmSync(join(scratch, "0002_second.sql"));
    await expect(migrate(database.ownerUrl, { folder })).rejects.toThrow("newer version");
  });

  describe("with a base file", () => {
    const tablesAndNames = async () => {
      const { rows } = await query(
        `select relname as name from pg_class
         where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`,
      );
      const noted = await query("select name from schema_migrations order by 1");
      return [rows, noted.rows].map((list) => list.map(({ name }) => name));
    };
    const NOTED = ["0001_first.sql", "0002_second.sql", "0003_third.sql"];
    const TABLES = ["first", "schema_migrations", "second", "third"];

    beforeEach(() => {
      mkdirSync(join(scratch, "before-2.0"));
      for (const name of NOTED.slice(0, 2)) {
        renameSync(join(scratch, name), join(scratch, "before-2.0", name));
      }
      write("0003_third.sql", "create table third (id int)");
      write(
        "base.sql",
        `create table second (id int); insert into second values (1);
         create table first (id bigint generated always as identity)`,
      );
    });

    it("base: a new database begins with it, once, and has those before noted as applied", async () => {
      const results = await Promise.all(
        Array.from({ length: 8 }, () => migrate(database.ownerUrl, { folder })),
      );
      const applied = results.flatMap((result) => result.applied);
      expect(applied).toEqual(["base.sql", "0003_third.sql"]);
      expect(await tablesAndNames()).toEqual([TABLES, NOTED]);
      expect(await migrate(database.ownerUrl, { folder })).toEqual({ applied: [] });
      write("before-2.0/0002_second.sql", "create table other (id int)");
      await expect(migrate(database.ownerUrl, { folder })).rejects.toThrow("0002_second.sql was");
    });

    it("base: a database from before goes on where it was", async () => {
      renameSync(join(scratch, "base.sql"), join(scratch, "base.away"));
      renameSync(join(scratch, "before-2.0/0001_first.sql"), join(scratch, "0001_first.sql"));
      renameSync(join(scratch, "0003_third.sql"), join(scratch, "0003_third.away"));
      await migrate(database.ownerUrl, { folder });
      renameSync(join(scratch, "0001_first.sql"), join(scratch, "before-2.0/0001_first.sql"));
      renameSync(join(scratch, "0003_third.away"), join(scratch, "0003_third.sql"));
      renameSync(join(scratch, "base.away"), join(scratch, "base.sql"));
      expect(await migrate(database.ownerUrl, { folder })).toEqual({ applied: NOTED.slice(1) });
      expect(await tablesAndNames()).toEqual([TABLES, NOTED]);
    });

    it("base: a failing one leaves nothing of itself, and is tried again", async () => {
      const whole = readFileSync(join(scratch, "base.sql"), "utf8");
      write("base.sql", `${whole}; select 1/0`);
      await expect(migrate(database.ownerUrl, { folder })).rejects.toThrow(
        "base.sql failed: division by zero",
      );
      expect(await tablesAndNames()).toEqual([["schema_migrations"], []]);
      write("base.sql", whole);
      const { applied } = await migrate(database.ownerUrl, { folder });
      expect(applied).toEqual(["base.sql", "0003_third.sql"]);
    });

    it("base: a database ahead of the program is refused, and none is begun beside its tables", async () => {
      await migrate(database.ownerUrl, { folder });
      rmSync(join(scratch, "0003_third.sql"));
      await expect(migrate(database.ownerUrl, { folder })).rejects.toThrow("newer version");
      await query("delete from schema_migrations");
      await expect(migrate(database.ownerUrl, { folder })).rejects.toThrow("already exists");
    });
  });

  it("rights: the service role reads and writes rows, also of later tables, and no more", async () => {
    await migrate(database.ownerUrl, { folder, serviceRole: SERVICE_ROLE });
    write("0003_third.sql", "create table third (id int)");
    await migrate(database.ownerUrl, { folder, serviceRole: SERVICE_ROLE });
    const as = database.serviceUrl;
    await query("insert into first default values", as);
    await query("insert into third values (1); update third set id = 2; delete from third", as);
    await expect(query("drop table third", as)).rejects.toThrow("must be owner");
    await expect(query("create table mine (id int)", as)).rejects.toThrow("permission denied");
    await expect(query("delete from schema_migrations", as)).rejects.toThrow("permission denied");
    const unknown = migrate(database.ownerUrl, { folder, serviceRole: "nobody_at_all" });
    await expect(unknown).rejects.toThrow('"nobody_at_all" does not exist');
  });

  it("setup: migrates, makes the first admin and its workspace, and is harmless again", async () => {
    const env = {
      DATABASE_OWNER_URL: database.ownerUrl,
      DATABASE_URL: database.serviceUrl,
      ADMIN_EMAIL: "admin@example.org",
      ADMIN_PASSWORD: "correct horse",
    };
    const setUp = async () => {
      const { stdout } = await run(process.execPath, [SETUP], { env, timeout: 60_000 });
      return JSON.parse(stdout) as Record<string, unknown>;
    };
    const [one, two] = await Promise.all([setUp(), setUp()]);
    const again = await setUp();
    expect(one).toMatchObject({ event: "setup", admin_id: two.admin_id });
    expect(again).toEqual({
      event: "setup",
      migrations: [],
      admin_id: one.admin_id,
      admin_password: "works",
      admin_password_works: true,
      workspace_id: one.workspace_id,
    });
    const seen = await query(
      "select role, (select name from workspaces) from users",
      env.DATABASE_URL,
    );
    expect(seen.rows).toEqual([{ role: "admin", name: "Demo" }]);
  });

  it("setup: says all that is wrong with its settings, exit code 1", async () => {
    const failed = run(process.execPath, [SETUP], { env: {}, timeout: 60_000 });
    await expect(failed).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/DATABASE_OWNER_URL.*ADMIN_EMAIL.*ADMIN_PASSWORD/s),
    });
  });
});
