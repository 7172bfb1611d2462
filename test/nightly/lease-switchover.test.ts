import { afterAll, beforeAll, expect, it } from "vitest";
import { SERVICE_ROLE } from "../../deploy/supervisor/postgres/roles.ts";
import { silentLog } from "../../src/base/log.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import { Stack } from "../../src/base/stack.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import {
  isHalved,
  LEASE,
  SteadyWriting,
  startLeaseHost,
  startSessions,
} from "../support/lease-hosts.ts";
import { startNats } from "../support/nats.ts";
import { startPostgres, type TestDatabase, type TestPostgres } from "../support/postgres.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import { fence, Standby } from "../support/standby.ts";
import { until } from "../support/until.ts";

const LIMITS = { statementTimeout: 1_500, silenceTimeout: 2_000 };

const stack = new Stack(silentLog);
let first: TestPostgres;
let second: Standby;
let database: TestDatabase;

beforeAll(async () => {
  first = await startPostgres({ durable: true });
  stack.push("first server", () => first.stop());
  database = await first.createEmptyDatabase();
  await migrate(database.ownerUrl, { serviceRole: SERVICE_ROLE });
  second = await Standby.of(first);
  stack.push("second server", () => second.stop());
});
afterAll(() => stack.stop(20_000));

/** The service's address of both servers. */
function both(): string {
  const [one, two] = [database.serviceUrl, second.address(database.serviceUrl)];
  return one.replace(new URL(one).host, `${new URL(one).host},${new URL(two).host}`);
}

it("leases: a switchover of PostgreSQL that lasts longer than a lease moves no session", async () => {
  const addresses = { nats: await startNats(), database: both() };
  stack.push("nats", () => addresses.nats.stop());
  const kept = { ...database, drop: async () => {} };
  const fixture = await SessionFixture.open(kept, both(), LIMITS);
  stack.push("house", () => fixture.close());
  const hosts = [
    await startLeaseHost("a", addresses, fixture, stack),
    await startLeaseHost("b", addresses, fixture, stack),
  ];
  const shares = () => hosts.map(({ owner }) => [...owner.owned].sort().join());
  await until(isHalved(hosts), "both to own half", 20_000);
  const ids = await startSessions(fixture, hosts);
  const writing = new SteadyWriting(hosts, ids, fixture.pool);
  await writing.goesOn("");
  const before = { shares: shares(), epochs: await writing.epochs() };

  await fence(first);
  await until(() => hosts.every(({ owner }) => !owner.hasRight()), "their rights to end", 20_000);
  await systemRuntime.delay(2 * LEASE);
  await second.promote();
  await first.halt();
  await until(() => hosts.every(({ owner }) => owner.hasRight()), "both to be back", 20_000);
  await writing.goesOn(" at the new primary");
  await systemRuntime.delay(3 * LEASE);
  expect(shares()).toEqual(before.shares);
  expect(await writing.epochs()).toEqual(before.epochs);
  await writing.end();
});
