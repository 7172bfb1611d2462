import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { silentLog } from "../../src/base/log.ts";
import { PARTITIONS, partitionOf } from "../../src/base/partition.ts";
import { AutoStop } from "../../src/conversations/recording/auto-stop.ts";
import { SilentSessionStore } from "../../src/conversations/recording/silent-sessions-store.ts";
import type { OutboxRow } from "../../src/postgres/outbox.ts";
import { HeartbeatWriter } from "../../src/tenancy/devices/heartbeats.ts";
import { PostgresHeartbeats } from "../../src/tenancy/devices/heartbeats-store.ts";
import { RecordingDeviceStore } from "../../src/tenancy/devices/presence-store.ts";
import { makeWav } from "../support/make-wav.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { codeOf } from "../support/route-call.ts";
import { SessionFixture } from "../support/session-fixture.ts";

const SILENCE = 60_000;

describe("auto-stop", () => {
  let fixture: SessionFixture;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
  });
  afterAll(() => fixture.close());

  /** A process that has listened for longer than the silence. */
  async function process(clock: ManualClock) {
    const told: OutboxRow[] = [];
    const record = new SilentSessionStore(fixture.pool);
    const autoStop = new AutoStop({
      sessions: {
        now: async () => clock.now(),
        stop: (silence, limit) => record.stop(silence, limit),
      },
      notifier: { notify: (rows) => void told.push(...rows) },
      silence: SILENCE,
    });
    await autoStop.run();
    return { autoStop, told };
  }

  /** Time goes by, as the record sees it: what it knows of is so much older. */
  async function pass(clock: ManualClock, ms: number): Promise<void> {
    clock.advance(ms);
    const past = `${ms} ms`;
    await fixture.sql("update sessions set started_at = started_at - $1::interval", [past]);
    await fixture.sql("update devices set last_seen_at = last_seen_at - $1::interval", [past]);
    await fixture.sql("update chunks set uploaded_at = uploaded_at - $1::interval", [past]);
    await fixture.sql("update audio_streams set touched_at = touched_at - $1::interval", [past]);
  }

  /** Goes on by steps that count as listening. */
  async function listen(clock: ManualClock, processes: { autoStop: AutoStop }[], ms: number) {
    for (let left = ms; left > 0; left -= 10_000) {
      await pass(clock, Math.min(left, 10_000));
      for (const { autoStop } of processes) await autoStop.run();
    }
  }

  async function statusOf(id: string) {
    const [row] = await fixture.sql("select status, stop_reason from sessions where id = $1", [id]);
    return row;
  }

  it("auto-stop: a session without a device ends too, when no audio comes to it", async () => {
    const { owner, device } = await fixture.ownDevice();
    const [silent, heard] = [newId(), newId()];
    for (const id of [silent, heard]) {
      await fixture.sql(
        `insert into sessions (id, workspace_id, owner_id, job_id, status)
         values ($1, $2, $3, $4, 'recording')`,
        [id, device.workspaceId, owner.id, newId()],
      );
    }
    const clock = new ManualClock(Date.now());
    const only = await process(clock);
    await listen(clock, [only], SILENCE / 2);
    expect(await statusOf(silent)).toMatchObject({ status: "recording" });
    await fixture.sql(
      `insert into chunks
         (id, session_id, sequence, media_type, bytes, sha256, frames, sample_rate,
          duration_seconds, status, start_sample, length_samples)
       values ($1, $2, 0, 'audio/wav', 1, sha256('x'), 16000, 16000, 1, 'completed', 0, 16000)`,
      [newId(), heard],
    );
    await listen(clock, [only], SILENCE / 2 + 10_000);
    expect(await statusOf(silent)).toMatchObject({ stop_reason: "device_silent" });
    expect(await statusOf(heard)).toMatchObject({ status: "recording" });
    await fixture.sql("update sessions set status = 'completed' where id = $1", [heard]);
  });

  it("auto-stop: of two processes at once, each session is stopped once", async () => {
    const ids: string[] = [];
    for (let n = 0; n < 12; n += 1) {
      const { device } = await fixture.ownDevice();
      const id = await fixture.start(device);
      await fixture.upload(device, id, n, makeWav({ frames: 16_000 }));
      ids.push(id);
    }
    const clock = new ManualClock(Date.now());
    const two = [await process(clock), await process(clock)];
    await listen(clock, two, SILENCE - 5_000);
    expect(two.flatMap(({ told }) => told)).toEqual([]);
    await pass(clock, 10_000);
    const counts = await Promise.all(two.map(({ autoStop }) => autoStop.run()));
    expect(counts.reduce((sum, each) => sum + each, 0)).toBe(12);
    const told = two.flatMap((each) => each.told);
    expect(told.map(({ sessionId }) => sessionId).sort()).toEqual([...ids].sort());
    for (const [n, id] of ids.entries()) {
      expect(await statusOf(id)).toEqual({ status: "processing", stop_reason: "device_silent" });
      const stops = await fixture.sql<{ command: object }>(
        "select command from outbox where session_id = $1 and command ->> 'type' = 'Stop'",
        [id],
      );
      expect(stops).toEqual([
        { command: { type: "Stop", lastSequence: n, reason: "device_silent" } },
      ]);
    }
    expect(await two[0]?.autoStop.run()).toBe(0);
  });

  it("auto-stop: heartbeats, and audio, are signs of life", async () => {
    const clock = new ManualClock(Date.now());
    const [beating, sending, silent] = [
      await fixture.ownDevice(),
      await fixture.ownDevice(),
      await fixture.ownDevice(),
    ];
    const heartbeats = new HeartbeatWriter({
      store: new PostgresHeartbeats(fixture.pool),
      clock,
      log: silentLog,
    });
    const ids = [];
    for (const { device } of [beating, sending, silent]) ids.push(await fixture.start(device));
    const one = await process(clock);
    await listen(clock, [one], SILENCE - 1_000);
    const beat = await heartbeats.beat(beating.device, { recording: true });
    expect(beat.sessionId).toBe(ids[0]);
    await heartbeats.stop();
    await fixture.upload(sending.device, ids[1] ?? "", 0, makeWav({ frames: 16_000 }));
    await listen(clock, [one], 10_000);
    expect(one.told.map(({ sessionId }) => sessionId)).toEqual([ids[2]]);
    expect(await statusOf(ids[0] ?? "")).toEqual({ status: "recording", stop_reason: null });
    await listen(clock, [one], SILENCE);
    expect(one.told.map(({ sessionId }) => sessionId).sort()).toEqual([...ids].sort());
  });

  it("auto-stop: audio that is streamed is a sign of life before it is a chunk", async () => {
    const clock = new ManualClock(Date.now());
    const { device } = await fixture.ownDevice();
    const id = await fixture.start(device);
    const one = await process(clock);
    await listen(clock, [one], SILENCE - 1_000);
    await fixture.sql(
      "insert into audio_streams (session_id, settings, touched_at) values ($1, '{}', now())",
      [id],
    );
    await listen(clock, [one], SILENCE - 10_000);
    expect(one.told).toEqual([]);
    await listen(clock, [one], 20_000);
    expect(one.told.map(({ sessionId }) => sessionId)).toEqual([id]);
  });

  it("auto-stop: a file that is not whole keeps its session until it expires", async () => {
    const { owner, device } = await fixture.ownDevice();
    const [id, uploadId, account] = [newId(), newId(), owner.id];
    await fixture.sql(
      `insert into sessions (id, workspace_id, owner_id, job_id, status)
       values ($1, $2, $3, $4, 'recording')`,
      [id, device.workspaceId, account, newId()],
    );
    await fixture.sql(
      `insert into file_uploads (id, session_id, workspace_id, uploader_id, account_id, filename,
         media_type, size, received, is_last, touched_at, expires_at)
       values ($1, $2, $3, $4, $4, 'talk.wav', 'audio/wav', 100, 40, true,
         now() - interval '23 hours', now() + interval '1 hour')`,
      [uploadId, id, device.workspaceId, account],
    );
    const clock = new ManualClock(Date.now());
    const one = await process(clock);
    await listen(clock, [one], 3 * SILENCE);
    expect(await statusOf(id)).toEqual({ status: "recording", stop_reason: null });
    await fixture.sql("update file_uploads set expires_at = now() where id = $1", [uploadId]);
    await listen(clock, [one], 10_000);
    expect(await statusOf(id)).toEqual({ status: "processing", stop_reason: "device_silent" });
  });

  it("presence: what devices of recording sessions said last, by partition", async () => {
    const clock = new ManualClock(Date.now());
    const { device } = await fixture.ownDevice();
    const id = await fixture.start(device);
    const devices = new RecordingDeviceStore(fixture.pool);
    const mine = async () => {
      const found = await devices.read([partitionOf(id)]);
      return found.filter(({ sessionId }) => sessionId === id);
    };
    expect(await mine()).toEqual([]);
    const heartbeats = new HeartbeatWriter({
      store: new PostgresHeartbeats(fixture.pool),
      clock,
      log: silentLog,
    });
    await heartbeats.beat(device, { battery_percent: 40, period_seconds: 2 });
    await heartbeats.stop();
    const [seen] = await mine();
    const telemetry = { battery_percent: 40, period_seconds: 2 };
    expect(seen).toEqual({ sessionId: id, lastSeenAt: expect.any(Number), telemetry });
    const other = (partitionOf(id) + 1) % PARTITIONS;
    const elsewhere = await devices.read([other]);
    expect(elsewhere.filter(({ sessionId }) => sessionId === id)).toEqual([]);
    // An older beat, written late by another process, changes nothing.
    await new PostgresHeartbeats(fixture.pool).record([
      { deviceId: device.id, ago: 5_000, telemetry: "{}", firmware: undefined },
    ]);
    expect(await mine()).toEqual([seen]);
    await fixture.stop(device);
    expect(await mine()).toEqual([]);
  });

  it("auto-stop: time in which nobody listened is not held against devices", async () => {
    const clock = new ManualClock(Date.now());
    const { device } = await fixture.ownDevice();
    const id = await fixture.start(device);
    const one = await process(clock);
    await pass(clock, 20 * SILENCE);
    expect(await one.autoStop.run()).toBe(0);
    await listen(clock, [one], SILENCE - 10_000);
    expect(one.told).toEqual([]);
    await listen(clock, [one], 10_000);
    expect(one.told.map(({ sessionId }) => sessionId)).toEqual([id]);
  });

  it("auto-stop: a device that comes back is told so, and may start again", async () => {
    const clock = new ManualClock(Date.now());
    const { device } = await fixture.ownDevice();
    const id = await fixture.start(device);
    await fixture.upload(device, id, 1, makeWav({ frames: 16_000 }));
    const one = await process(clock);
    await listen(clock, [one], SILENCE + 10_000);
    const late = fixture.upload(device, id, 2, makeWav({ frames: 16_000 }));
    await expect(late).rejects.toThrow(/nothing came from its device/);
    expect(await codeOf(late)).toBe("session_ended");
    // What was missing before the end is still taken.
    expect((await fixture.upload(device, id, 0, makeWav({ frames: 16_000 }))).status).toBe(201);
    expect(await fixture.stop(device)).toMatchObject({ session_id: id, status: "processing" });
    expect(await fixture.start(device)).not.toBe(id);
  });
});
