import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SERVICE_ROLE, withClient } from "../../deploy/supervisor/postgres/roles.ts";
import { databaseHosts } from "../../src/base/database-address.ts";
import { isAppError } from "../../src/base/errors.ts";
import { primaryAddress } from "../../src/postgres/database-servers.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import { createPool, durabilityFaults } from "../../src/postgres/pool.ts";
import { FaultProxy } from "../support/fault-proxy.ts";
import { makeWav } from "../support/make-wav.ts";
import { startPostgres, type TestDatabase, type TestPostgres } from "../support/postgres.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import { fence, Standby } from "../support/standby.ts";
import { until } from "../support/until.ts";

const DEVICES = 6;
const LIMITS = { statementTimeout: 1_500, silenceTimeout: 2_000 };

/** Devices that send chunk after chunk, each again until it is acknowledged. */
class Senders {
  readonly acknowledged: string[] = [];
  readonly refusals = new Set<string>();
  /** What no device should ever hear. */
  readonly wrong: unknown[] = [];
  readonly #fixture: SessionFixture;
  readonly #work: Promise<void>[] = [];
  #isOver = false;

  constructor(fixture: SessionFixture) {
    this.#fixture = fixture;
  }

  async start(): Promise<void> {
    for (let n = 0; n < DEVICES; n += 1) {
      const { device } = await this.#fixture.ownDevice();
      const sessionId = await this.#fixture.start(device);
      this.#work.push(this.#send(device, sessionId));
    }
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#work);
  }

  async #send(device: Parameters<SessionFixture["upload"]>[0], sessionId: string): Promise<void> {
    for (let sequence = 0; !this.#isOver; ) {
      const audio = makeWav({ frames: 160, seed: sequence });
      try {
        const { status } = await this.#fixture.upload(device, sessionId, sequence, audio);
        if (status !== 201 && status !== 200) this.wrong.push(status);
        this.acknowledged.push(`${sessionId} ${sequence}`);
        sequence += 1;
      } catch (error) {
        if (!isAppError(error, "unavailable") || error.retryAfter === undefined)
          this.wrong.push(error);
        else this.refusals.add(error.message);
        await new Promise((wake) => setTimeout(wake, 20));
      }
    }
  }
}

describe("switchover", () => {
  let first: TestPostgres;
  let second: Standby;
  let database: TestDatabase;

  beforeAll(async () => {
    first = await startPostgres({ durable: true });
    database = await first.createEmptyDatabase();
    await migrate(database.ownerUrl, { serviceRole: SERVICE_ROLE });
    second = await Standby.of(first);
  });
  afterAll(async () => {
    await second.stop();
    await first.stop();
  });

  it("durability: a server that flushes is in order, and a role of which that was taken is told", async () => {
    const faults = async () => {
      const pool = await createPool(database.serviceUrl, { maximumPoolSize: 1 });
      return durabilityFaults(pool).finally(() => pool.end());
    };
    expect(await faults()).toEqual([]);
    const alter = (statement: string) =>
      withClient(first.adminUrl, (client) =>
        client.query(`alter role ${SERVICE_ROLE} ${statement}`),
      );
    await alter("set synchronous_commit = off");
    const [told, ...others] = await faults();
    await alter("reset synchronous_commit");
    expect(others).toEqual([]);
    expect(told).toMatch(/^synchronous_commit is off: .*ALTER ROLE … RESET synchronous_commit/);
  });

  /** Chunks that a server has. */
  const stored = ({ adminUrl }: Standby) =>
    withClient(new URL(new URL(database.ownerUrl).pathname, adminUrl).href, async (client) => {
      const { rows } = await client.query<{ name: string }>(
        "select session_id || ' ' || sequence as name from chunks",
      );
      return new Set(rows.map(({ name }) => name));
    });

  /** What the service's connections at that server are. */
  const connectionsAt = (adminUrl: string) =>
    withClient(adminUrl, async (client) => {
      const { rows } = await client.query<{ count: number }>(
        "select count(*)::int as count from pg_stat_activity where usename = $1 and pid <> pg_backend_pid()",
        [SERVICE_ROLE],
      );
      return rows[0]?.count;
    });

  async function isKept(senders: Senders, server: Standby): Promise<void> {
    const there = await stored(server);
    expect(senders.acknowledged.filter((name) => !there.has(name))).toEqual([]);
    expect(senders.wrong).toEqual([]);
  }

  it("switchover: the service goes on at the new primary by itself, and nothing acknowledged is lost", async () => {
    const two = new URL(second.address(database.serviceUrl)).host;
    const one = new URL(database.serviceUrl).host;
    const hosts = database.serviceUrl.replace(one, `${one},${two}`);
    const proxy = await FaultProxy.start("postgres", Number(new URL(database.serviceUrl).port));
    const moving = database.serviceUrl.replace(one, `127.0.0.1:${proxy.port}`);
    // One knows both servers, the other a name that moves.
    const fixtures = [
      await SessionFixture.open({ ...database, drop: async () => {} }, hosts, LIMITS),
      await SessionFixture.open({ ...database, drop: async () => {} }, moving, LIMITS),
    ];
    const senders = fixtures.map((fixture) => new Senders(fixture));
    for (const each of senders) await each.start();
    await until(() => senders.every(({ acknowledged }) => acknowledged.length > 50), "chunks");
    await fence(first);
    await until(() => senders.every(({ refusals }) => refusals.size > 0), "the refusals");
    await second.promote();
    proxy.lead(Number(two.split(":")[1]));
    const counts = senders.map(({ acknowledged }) => acknowledged.length);
    await until(
      () => senders.every(({ acknowledged }, at) => acknowledged.length > (counts[at] ?? 0) + 50),
      "chunks at the new primary",
      15_000,
    );
    for (const each of senders) await each.end();
    for (const each of senders) await isKept(each, second);
    // The plain clients of the two houses are there still, and nobody else.
    await until(
      async () => (await connectionsAt(first.adminUrl)) === fixtures.length,
      "the old one to be left",
    );
    expect(await primaryAddress(hosts)).toBe(databaseHosts(hosts)[1]);
    for (const fixture of fixtures) await fixture.close();
    await proxy.stop();
  });

  it("switchover: a primary that dies is followed by its standby, and nothing acknowledged is lost", async () => {
    const third = await Standby.of(second);
    const mine = {
      ...database,
      serviceUrl: second.address(database.serviceUrl),
      drop: async () => {},
    };
    const one = new URL(mine.serviceUrl).host;
    const two = new URL(third.address(mine.serviceUrl)).host;
    const fixture = await SessionFixture.open(
      mine,
      mine.serviceUrl.replace(one, `${one},${two}`),
      LIMITS,
    );
    const senders = new Senders(fixture);
    await senders.start();
    await until(() => senders.acknowledged.length > 50, "chunks");
    await second.kill9();
    await until(() => senders.refusals.size > 0, "the refusals");
    await third.promote();
    const count = senders.acknowledged.length;
    await until(
      () => senders.acknowledged.length > count + 50,
      "chunks at the new primary",
      15_000,
    );
    await senders.end();
    await isKept(senders, third);
    await fixture.close().catch(() => undefined);
    await third.stop();
  });
});
