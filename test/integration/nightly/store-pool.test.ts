import { type DatabasePool, sql } from "slonik";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { withClient } from "../../../deploy/supervisor/postgres/roles.ts";
import { isAppError } from "../../../src/base/errors.ts";
import { createPool } from "../../../src/postgres/pool.ts";
import { FaultProxy } from "../../support/fault-proxy.ts";
import { createTestDatabase, type TestDatabase } from "../../support/postgres.ts";
import { until } from "../../support/until.ts";

const SIZE = 3;
const row = z.object({ n: z.number() });

describe("database pool", () => {
  let database: TestDatabase;
  let proxy: FaultProxy;
  let pool: DatabasePool;

  beforeEach(async () => {
    database = await createTestDatabase();
    const address = new URL(database.serviceUrl);
    proxy = await FaultProxy.start("postgres", Number(address.port));
    address.port = String(proxy.port);
    const limits = { maximumPoolSize: SIZE, statementTimeout: 1_000, silenceTimeout: 1_500 };
    pool = await createPool(address.href, limits);
  });
  afterEach(async () => {
    await proxy.stop();
    await pool.end();
    await database.drop();
  });

  const ask = (seconds: number) =>
    pool.oneFirst(sql.type(row)`select 1 as n from pg_sleep(${seconds}::float8)`);
  /** How many of `count` questions at once are refused as an outage. */
  async function refusals(count: number, seconds: number, fault: () => Promise<unknown>) {
    const asked = Array.from({ length: count }, () =>
      ask(seconds).then(
        () => 0,
        (error: unknown) => {
          expect(isAppError(error, "unavailable")).toBe(true);
          return 1;
        },
      ),
    );
    await until(() => pool.state().acquiredConnections === Math.min(SIZE, count), "the queries");
    await fault();
    return (await Promise.all(asked)).reduce<number>((sum, each) => sum + each, 0);
  }

  it("database pool: connections cut in the middle of queries give their places back", async () => {
    for (let round = 0; round < SIZE + 2; round += 1) {
      const cut = () => proxy.inflict({ kind: "cut", ms: 0 });
      expect(await refusals(SIZE, 0.5, cut)).toBeGreaterThan(0);
    }
    await Promise.all(Array.from({ length: SIZE * 2 }, () => ask(0)));
    expect(pool.state()).toMatchObject({ waitingClients: 0, pendingDestroyConnections: 0 });
  });

  it("database pool: idle connections that were cut are replaced", async () => {
    await Promise.all(Array.from({ length: SIZE }, () => ask(0.05)));
    await proxy.inflict({ kind: "cut", ms: 0 });
    await until(() => pool.state().idleConnections === 0, "the pool to notice");
    expect(await ask(0)).toBe(1);
  });

  it("database pool: a connection that leads nowhere is given up in time, and replaced", async () => {
    let over: Promise<unknown> = Promise.resolve();
    const lost = await refusals(SIZE, 0.3, async () => {
      over = proxy.inflict({ kind: "half-open", ms: 60_000 });
    });
    expect(lost).toBe(SIZE);
    expect(await ask(0)).toBe(1);
    proxy.heal();
    await over;
    expect(await ask(0)).toBe(1);
  });

  it("database pool: a transaction over a connection that leads nowhere ends", async () => {
    const work = pool.transaction(async (transaction) => {
      await transaction.oneFirst(sql.type(row)`select 1 as n`);
      void proxy.inflict({ kind: "half-open", ms: 60_000 });
      await transaction.oneFirst(sql.type(row)`select 2 as n`);
    });
    await expect(work).rejects.toSatisfy((error) => isAppError(error, "unavailable"));
    expect(await ask(0)).toBe(1);
  });

  it("database pool: who waits for a connection is answered while the server refuses all", async () => {
    let over: Promise<unknown> = Promise.resolve();
    const refused = await refusals(SIZE * 4, 0.5, async () => {
      over = proxy.inflict({ kind: "refuse", ms: 60_000 });
    });
    expect(refused).toBe(SIZE * 4);
    proxy.heal();
    await over;
    await Promise.all(Array.from({ length: SIZE * 2 }, () => ask(0)));
  });

  describe("statements that are planned once", () => {
    const named = sql.type(z.object({ names: z.number() }))`
      select count(*)::int as names from pg_prepared_statements`;

    beforeEach(async () => {
      await pool.end();
      const address = new URL(database.serviceUrl);
      pool = await createPool(address.href, { maximumPoolSize: 1 });
    });

    it("database pool: a statement is parsed once if it says so", async () => {
      await pool.any(sql.unsafe`select 7`);
      expect(await pool.oneFirst(named)).toBe(0);
      const numbers: number[] = [];
      for (let n = 0; n < 10; n += 1) {
        numbers.push(await pool.oneFirst(sql.type(row)`/* planned once */ select ${n}::int4 as n`));
      }
      expect(numbers).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      expect(await pool.oneFirst(named)).toBe(1);
    });

    it("database pool: no more than 40 statements are kept", async () => {
      for (let n = 0; n < 50; n += 1) {
        const column = sql.identifier([`n${n}`]);
        await pool.any(sql.unsafe`/* planned once */ select 1 as ${column}`);
      }
      expect(await pool.oneFirst(named)).toBe(40);
    });

    it("database pool: a connection whose statements a migration has outdated is replaced", async () => {
      const change = (text: string) =>
        withClient(database.ownerUrl, (owner) => owner.query(text).then(() => undefined));
      await change("create table moved (n int4)");
      await change("grant select on moved to public");
      const query = sql.unsafe`/* planned once */ select n from moved`;
      await pool.any(query);
      await change("alter table moved alter n type int8");
      await expect(pool.any(query)).rejects.toSatisfy((error) => isAppError(error, "unavailable"));
      expect(await pool.any(query)).toEqual([]);
    });

    it("database pool: where names are lost on the way none are given any more", async () => {
      const query = sql.type(row)`/* planned once */ select ${7}::int4 as n`;
      await pool.any(query);
      await pool.query(sql.unsafe`deallocate all`);
      await expect(pool.any(query)).rejects.toSatisfy((error) => isAppError(error, "unavailable"));
      expect(await pool.oneFirst(query)).toBe(7);
      expect(await pool.oneFirst(named)).toBe(0);
    });
  });
});
