import { toTimestamp } from "../base/clock.ts";

/** How often a device beats that does not say so, seconds. */
const PERIOD = 30;
const MISSED = 3;

/** A device is online until it missed three heartbeats. */
export type Presence = "online" | "offline";

/**
 * @param lastSeenAt Unix milliseconds
 * @param telemetry what its newest heartbeat said; its `period_seconds` counts
 */
export function presenceOf(
  lastSeenAt: number | undefined,
  telemetry: Readonly<Record<string, unknown>>,
  now: number,
): Presence {
  if (lastSeenAt === undefined) return "offline";
  const said = telemetry.period_seconds;
  const period = typeof said === "number" && said > 0 ? said : PERIOD;
  return now - lastSeenAt < MISSED * period * 1_000 ? "online" : "offline";
}

/** How a recording device does, in the words of the live channel. */
interface DeviceStatus {
  presence: Presence;
  last_seen_at: string;
  battery_percent?: number;
  buffered_chunks?: number;
}

/** @param lastSeenAt Unix milliseconds */
export function deviceStatus(
  lastSeenAt: number,
  telemetry: Readonly<Record<string, unknown>>,
  now: number,
): DeviceStatus {
  const { battery_percent: battery, buffered_chunks: buffered } = telemetry;
  return {
    presence: presenceOf(lastSeenAt, telemetry, now),
    last_seen_at: toTimestamp(lastSeenAt),
    ...(typeof battery === "number" && { battery_percent: battery }),
    ...(typeof buffered === "number" && { buffered_chunks: buffered }),
  };
}
