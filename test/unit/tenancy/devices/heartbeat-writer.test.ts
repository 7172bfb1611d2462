import { describe, expect, it } from "vitest";
import type { DevicePrincipal } from "../../../../src/access/principal.ts";
import { AppError } from "../../../../src/base/errors.ts";
import { silentLog } from "../../../../src/base/log.ts";
import { type Beat, HeartbeatWriter } from "../../../../src/tenancy/devices/heartbeats.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const DAY = 24 * 3_600_000;

function fixture() {
  const clock = new ManualClock();
  const written: (readonly Beat[])[] = [];
  const recording = new Map<string, string>();
  const lookups: string[] = [];
  const state = { away: false };
  const store = {
    recording: async (id: string) => {
      lookups.push(id);
      return recording.get(id);
    },
    record: async (beats: readonly Beat[]) => {
      if (state.away) throw new AppError("unavailable", "away");
      written.push(beats);
    },
  };
  const heartbeats = new HeartbeatWriter({ store, clock, log: silentLog });
  const device = (id: string, days = 30): DevicePrincipal => ({
    kind: "device",
    id,
    keyId: "k",
    workspaceId: "w",
    ownerId: "o",
    expiresAt: clock.now() + days * DAY,
  });
  return { clock, written, recording, lookups, state, heartbeats, device };
}

describe("heartbeats", () => {
  it("heartbeats: many become one write with the newest of each device", async () => {
    const { clock, written, heartbeats, device } = fixture();
    await heartbeats.beat(device("a"), { battery_percent: 3, firmware: "1" });
    clock.advance(10);
    await heartbeats.beat(device("a"), { battery_percent: 2 });
    await heartbeats.beat(device("b"), {});
    expect(written).toEqual([]);
    await heartbeats.flush();
    await heartbeats.flush();
    expect(written).toEqual([
      [
        { deviceId: "a", ago: 0, telemetry: '{"battery_percent":2}', firmware: "1" },
        { deviceId: "b", ago: 0, telemetry: "{}", firmware: undefined },
      ],
    ]);
    await heartbeats.stop();
  });

  it("heartbeats: a firmware becomes one line, as names are, whatever a device calls it", async () => {
    const { written, heartbeats, device } = fixture();
    await heartbeats.beat(device("a"), { firmware: " 1.4\r\n\u202e2 " });
    await heartbeats.stop();
    expect(written.flat()).toMatchObject([{ firmware: "1.4 2" }]);
  });

  it("heartbeats: what cannot be written waits, and newer news win", async () => {
    const { clock, written, state, heartbeats, device } = fixture();
    state.away = true;
    await heartbeats.beat(device("a"), { battery_percent: 3, firmware: "1" });
    await heartbeats.beat(device("b"), {});
    const failed = heartbeats.flush();
    clock.advance(1_000);
    heartbeats.seen("a");
    await expect(failed).rejects.toThrow("away");
    state.away = false;
    await heartbeats.stop();
    const said = JSON.stringify({ battery_percent: 3, firmware: "1" });
    expect(written.flat()).toEqual([
      { deviceId: "a", ago: 0, telemetry: said, firmware: "1" },
      { deviceId: "b", ago: 1_000, telemetry: "{}", firmware: undefined },
    ]);
  });

  it("heartbeats: the answer names the session of this moment and what to do", async () => {
    const { recording, heartbeats, device } = fixture();
    const beat = (days: number) => heartbeats.beat(device("a", days), { recording: true });
    expect(await beat(30)).toMatchObject({ commands: [{ type: "stop_recording" }] });
    recording.set("a", "s");
    expect(await beat(30)).toMatchObject({ sessionId: "s", commands: [] });
    expect((await beat(6)).commands).toEqual([{ type: "renew_key" }]);
    await heartbeats.stop();
  });

  it("heartbeats: a session is looked up only when a command hangs on it", async () => {
    const { written, recording, lookups, heartbeats, device } = fixture();
    const hear = (id: string, telemetry: object) => heartbeats.hear(device(id), telemetry);
    expect(await hear("a", { recording: false })).toEqual([]);
    expect(await heartbeats.hear(device("b", 6), {})).toEqual([{ type: "renew_key" }]);
    expect(lookups).toEqual([]);
    expect(await hear("c", { recording: true })).toEqual([{ type: "stop_recording" }]);
    recording.set("c", "s");
    expect(await hear("c", { recording: true })).toEqual([]);
    expect(lookups).toEqual(["c", "c"]);
    await heartbeats.stop();
    expect(written.flat().map(({ deviceId }) => deviceId)).toEqual(["a", "b", "c"]);
  });

  it("heartbeats: telemetry is bounded", async () => {
    const { heartbeats, device } = fixture();
    const large = { firmware: "x".repeat(9_000) };
    await expect(heartbeats.beat(device("a"), large)).rejects.toMatchObject({
      code: "invalid_body",
    });
    await heartbeats.stop();
  });
});
