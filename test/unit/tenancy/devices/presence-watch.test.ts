import { describe, expect, it } from "vitest";
import { PresenceWatch } from "../../../../src/tenancy/devices/presence.ts";
import type { RecordingDevice } from "../../../../src/tenancy/devices/presence-store.ts";
import type { WarningFrame } from "../../../../src/wire/live-frames.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

function fixture() {
  const clock = new ManualClock();
  const told: WarningFrame[] = [];
  let devices: RecordingDevice[] = [];
  let owned: number[] = [1];
  const watch = new PresenceWatch({
    devices: { read: async () => devices },
    owned: () => owned,
    publish: (_id, frame) => void told.push(frame),
    clock,
  });
  const beat = (telemetry: RecordingDevice["telemetry"] = { period_seconds: 2 }) => {
    devices = [{ sessionId: "s", lastSeenAt: clock.now(), telemetry }];
  };
  const lose = () => {
    owned = [];
  };
  return { clock, told, watch, beat, lose };
}

describe("presence of devices", () => {
  it("presence: three missed heartbeats are told once, and the return", async () => {
    const { clock, told, watch, beat } = fixture();
    beat();
    await watch.check();
    clock.advance(5_999);
    await watch.check();
    expect(told).toEqual([]);
    clock.advance(1);
    await watch.check();
    clock.advance(60_000);
    await watch.check();
    expect(told.map(({ code, session_id }) => [code, session_id])).toEqual([
      ["device_offline", "s"],
    ]);
    beat();
    await watch.check();
    expect(told.map(({ code }) => code)).toEqual(["device_offline", "device_online"]);
  });

  it("presence: heartbeats show battery and buffer, and only of sessions held here", async () => {
    const { clock, watch, beat, lose } = fixture();
    beat({ battery_percent: 41, buffered_chunks: 3, recording: true });
    await watch.check();
    expect(watch.of("s")).toEqual({
      presence: "online",
      last_seen_at: new Date(clock.now()).toISOString(),
      battery_percent: 41,
      buffered_chunks: 3,
    });
    expect(watch.of("other")).toBeUndefined();
    lose();
    await watch.check();
    expect(watch.of("s")).toBeUndefined();
  });
});
