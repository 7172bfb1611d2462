import { toTimestamp } from "../base/clock.ts";

/** Heartbeat period of a device that does not send its own, seconds. */
const PERIOD = 30;
const MISSED = 3;

/** A device counts as online until it has missed three heartbeats. */
export type Presence = "online" | "offline";

/**
 * Whether a device is online.
 *
 * @param lastSeenAt Unix milliseconds
 * @param telemetry the content of its newest heartbeat, of which `period_seconds` counts
 * @param now Unix milliseconds
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

/** The state of a recording device, as the live channel shows it. */
interface DeviceStatus {
  presence: Presence;
  last_seen_at: string;
  battery_percent?: number;
  buffered_chunks?: number;
}

/**
 * The status of a device, from its newest heartbeat.
 *
 * @param lastSeenAt Unix milliseconds
 * @param now Unix milliseconds
 */
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
