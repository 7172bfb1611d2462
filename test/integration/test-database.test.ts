import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withClient } from "../../deploy/supervisor/postgres/roles.ts";
import { createTestDatabase, type TestDatabase } from "../support/postgres.ts";

describe("test database", () => {
  let first: TestDatabase;
  let second: TestDatabase;

  beforeAll(async () => {
    [first, second] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  });

  afterAll(async () => {
    await Promise.all([first.drop(), second.drop()]);
  });

  it("database: is UTF-8 with the locale C.UTF-8", async () => {
    const { rows } = await withClient(first.serviceUrl, (client) =>
      client.query(
        "select pg_encoding_to_char(encoding) as encoding, datctype from pg_database where datname = current_database()",
      ),
    );
    expect(rows).toEqual([{ encoding: "UTF8", datctype: "C.UTF-8" }]);
  });

  it("roles: the service can read but not change tables, the owner is no superuser", async () => {
    const readable = await withClient(first.serviceUrl, (client) =>
      client.query("select count(*)::int as users from users"),
    );
    expect(readable.rows).toEqual([{ users: 0 }]);
    const change = withClient(first.serviceUrl, (client) =>
      client.query("alter table users add column x int"),
    );
    await expect(change).rejects.toThrow(/must be owner/);
    const make = withClient(first.serviceUrl, (client) => client.query("create table x (y int)"));
    await expect(make).rejects.toThrow(/permission denied/);
    const owner = await withClient(first.ownerUrl, (client) =>
      client.query("select rolsuper from pg_roles where rolname = current_user"),
    );
    expect(owner.rows).toEqual([{ rolsuper: false }]);
  });

  it("databases: what one test writes another does not see", async () => {
    const insert = "insert into workspaces (id, name) values (gen_random_uuid(), 'ours')";
    await withClient(first.serviceUrl, (client) => client.query(insert));
    const { rows } = await withClient(second.serviceUrl, (client) =>
      client.query("select count(*)::int as workspaces from workspaces"),
    );
    expect(rows).toEqual([{ workspaces: 0 }]);
  });
});
