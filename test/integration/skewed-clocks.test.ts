import { sql } from "slonik";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { silentLog } from "../../src/base/log.ts";
import { partitionOf } from "../../src/base/partition.ts";
import { type Runtime, systemRuntime } from "../../src/base/runtime.ts";
import { SilentSessionStore } from "../../src/conversations/recording/silent-sessions-store.ts";
import { DatabaseClock } from "../../src/postgres/database-clock.ts";
import { HeartbeatWriter } from "../../src/tenancy/devices/heartbeats.ts";
import { PostgresHeartbeats } from "../../src/tenancy/devices/heartbeats-store.ts";
import { PresenceWatch } from "../../src/tenancy/devices/presence.ts";
import { RecordingDeviceStore } from "../../src/tenancy/devices/presence-store.ts";
import { DeliveryQueueStore } from "../../src/tenancy/webhooks/queue-store.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import { until } from "../support/until.ts";

const HALF_AN_HOUR = 30 * 60_000;
const SILENCE = 15 * 60_000;

/** A host whose clock is off by so much. */
function hostOff(ms: number): Runtime {
  return { ...systemRuntime, now: () => Date.now() + ms };
}

describe.each([
  ["ahead", HALF_AN_HOUR],
  ["behind", -HALF_AN_HOUR],
])("clocks: a host half an hour %s", (_, skew) => {
  let fixture: SessionFixture;
  let clock: DatabaseClock;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    clock = new DatabaseClock(fixture.pool, hostOff(skew));
    await clock.start();
  });
  afterAll(async () => {
    clock.stop();
    await fixture.close();
  });

  it("clocks: has the database's time all the same", async () => {
    const now = await fixture.pool.oneFirst(
      sql.type(z.object({ now: z.number() }))`select clock_timestamp() as now`,
    );
    expect(Math.abs(clock.now() - now)).toBeLessThan(5_000);
  });

  it("clocks: writes heartbeats that no right clock has to wait for, and sees who is there", async () => {
    const { device } = await fixture.ownDevice();
    const id = await fixture.start(device);
    const fronts = [hostOff(skew), systemRuntime].map(
      (front) =>
        new HeartbeatWriter({
          store: new PostgresHeartbeats(fixture.pool),
          clock: front,
          log: silentLog,
        }),
    );
    for (const [battery, front] of fronts.entries()) {
      await front.beat(device, { battery_percent: battery, recording: true });
      await front.stop();
    }
    const [row] = await fixture.sql(
      `select telemetry ->> 'battery_percent' as battery,
        abs(extract(epoch from now() - last_seen_at)) < 30 as "isNow"
       from devices where id = $1`,
      [device.id],
    );
    expect(row).toEqual({ battery: "1", isNow: true });
    const watch = new PresenceWatch({
      devices: new RecordingDeviceStore(fixture.pool),
      owned: () => [partitionOf(id)],
      publish: () => {},
      clock,
    });
    await watch.check();
    expect(watch.of(id)?.presence).toBe("online");
    expect(await new SilentSessionStore(fixture.pool).stop(SILENCE, 100)).toEqual([]);
  });

  it("clocks: an instant in the future, left by an earlier release, silences no device", async () => {
    const { device } = await fixture.ownDevice();
    await fixture.sql("update devices set last_seen_at = now() + interval '30 min' where id = $1", [
      device.id,
    ]);
    await new PostgresHeartbeats(fixture.pool).record([
      { deviceId: device.id, ago: 0, telemetry: '{"battery_percent":7}', firmware: undefined },
    ]);
    const [row] = await fixture.sql(
      "select telemetry ->> 'battery_percent' as battery, last_seen_at <= now() as past from devices where id = $1",
      [device.id],
    );
    expect(row).toEqual({ battery: "7", past: true });
  });

  it("clocks: an endpoint that one host holds is not taken by the other", async () => {
    const owner = await fixture.user();
    const workspaceId = await fixture.workspace(owner.id);
    const [webhook] = await fixture.sql<{ id: string }>(
      `insert into webhooks (id, workspace_id, url, secret, made_by)
       values (gen_random_uuid(), $1, 'https://example.org', '\\x00', $2) returning id`,
      [workspaceId, owner.id],
    );
    await fixture.sql(
      `insert into webhook_deliveries (webhook_id, id, event_type, data, occurred_at)
       values ($1, gen_random_uuid(), 'session.completed', '{}', now())`,
      [webhook?.id],
    );
    const right = new DatabaseClock(fixture.pool, systemRuntime);
    await right.sync();
    const queue = new DeliveryQueueStore(fixture.pool);
    await until(async () => (await queue.claim(1, right.now(), 60_000)).length === 1, "the claim");
    expect(await queue.claim(1, clock.now(), 60_000)).toEqual([]);
  });
});
