import { sql } from "slonik";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { silentLog } from "../../src/base/log.ts";
import { partitionOf } from "../../src/base/partition.ts";
import { type Runtime, systemRuntime } from "../../src/base/runtime.ts";
import { CoalescedHeartbeats } from "../../src/features/devices/heartbeats.ts";
import { PostgresHeartbeats } from "../../src/features/devices/heartbeats-store.ts";
import { PresenceWatch } from "../../src/features/devices/presence.ts";
import { RecordingDeviceStore } from "../../src/features/devices/presence-store.ts";
import { SilentSessionStore } from "../../src/features/recording/silent-sessions-store.ts";
import { DeliveryQueueStore } from "../../src/features/webhooks/queue-store.ts";
import { DatabaseClock } from "../../src/postgres/database-clock.ts";
import { SessionHouse } from "../support/session-house.ts";
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
  let house: SessionHouse;
  let clock: DatabaseClock;

  beforeAll(async () => {
    house = await SessionHouse.open();
    clock = new DatabaseClock(house.pool, hostOff(skew));
    await clock.start();
  });
  afterAll(async () => {
    clock.stop();
    await house.close();
  });

  it("clocks: has the database's time all the same", async () => {
    const now = await house.pool.oneFirst(
      sql.type(z.object({ now: z.number() }))`select clock_timestamp() as now`,
    );
    expect(Math.abs(clock.now() - now)).toBeLessThan(5_000);
  });

  it("clocks: writes heartbeats that no right clock has to wait for, and sees who is there", async () => {
    const { device } = await house.ownDevice();
    const id = await house.start(device);
    const fronts = [hostOff(skew), systemRuntime].map(
      (front) =>
        new CoalescedHeartbeats({
          book: new PostgresHeartbeats(house.pool),
          clock: front,
          log: silentLog,
        }),
    );
    for (const [battery, front] of fronts.entries()) {
      await front.beat(device, { battery_percent: battery, recording: true });
      await front.stop();
    }
    const [row] = await house.sql(
      `select telemetry ->> 'battery_percent' as battery,
        abs(extract(epoch from now() - last_seen_at)) < 30 as "isNow"
       from devices where id = $1`,
      [device.id],
    );
    expect(row).toEqual({ battery: "1", isNow: true });
    const watch = new PresenceWatch({
      devices: new RecordingDeviceStore(house.pool),
      owned: () => [partitionOf(id)],
      publish: () => {},
      runtime: clock.runtime,
      log: silentLog,
      every: 60_000,
    });
    await watch.look();
    expect(watch.of(id)?.presence).toBe("online");
    expect(await new SilentSessionStore(house.pool).stop(SILENCE, 100)).toEqual([]);
  });

  it("clocks: an instant in the future, left by an earlier release, silences no device", async () => {
    const { device } = await house.ownDevice();
    await house.sql("update devices set last_seen_at = now() + interval '30 min' where id = $1", [
      device.id,
    ]);
    await new PostgresHeartbeats(house.pool).record([
      { deviceId: device.id, ago: 0, telemetry: '{"battery_percent":7}', firmware: undefined },
    ]);
    const [row] = await house.sql(
      "select telemetry ->> 'battery_percent' as battery, last_seen_at <= now() as past from devices where id = $1",
      [device.id],
    );
    expect(row).toEqual({ battery: "7", past: true });
  });

  it("clocks: an endpoint that one host holds is not taken by the other", async () => {
    const owner = await house.user();
    const workspaceId = await house.workspace(owner.id);
    const [webhook] = await house.sql<{ id: string }>(
      `insert into webhooks (id, workspace_id, url, secret)
       values (gen_random_uuid(), $1, 'https://example.org', '\\x00') returning id`,
      [workspaceId],
    );
    await house.sql(
      `insert into webhook_deliveries (webhook_id, id, event_type, data, occurred_at)
       values ($1, gen_random_uuid(), 'session.completed', '{}', now())`,
      [webhook?.id],
    );
    const right = new DatabaseClock(house.pool, systemRuntime);
    await right.look();
    const queue = new DeliveryQueueStore(house.pool);
    await until(async () => (await queue.claim(1, right.now(), 60_000)).length === 1, "the claim");
    expect(await queue.claim(1, clock.now(), 60_000)).toEqual([]);
  });
});
