import type { Clock } from "../../base/clock.ts";
import type { PeriodicWork } from "../../base/work/periodic-task.ts";
import { deviceStatus, type Presence } from "../../session/presence.ts";
import type { DeviceFrame, WarningFrame } from "../../wire/live-frames.ts";
import type { RecordingDeviceStore } from "./presence-store.ts";

const EVERY_MS = 2_000;

interface PresenceWatchOptions {
  devices: Pick<RecordingDeviceStore, "read">;
  /** Returns this host's partitions: each session is watched by the host that owns it. */
  owned(): readonly number[];
  publish(sessionId: string, frame: WarningFrame): void;
  clock: Pick<Clock, "now">;
}

/**
 * Watches the devices of this host's sessions and sends warnings to viewers when one goes silent
 * and when it comes back.
 */
export class PresenceWatch {
  readonly #options: PresenceWatchOptions;
  #known = new Map<string, DeviceFrame>();

  constructor(options: PresenceWatchOptions) {
    this.#options = options;
  }

  readonly task: PeriodicWork = {
    every: EVERY_MS,
    trouble: "devices not readable",
    run: () => this.check(),
  };

  /** The state of the session's device; undefined when it is unknown or the session is over. */
  of(sessionId: string): DeviceFrame | undefined {
    return this.#known.get(sessionId);
  }

  /** Looks once; rejects when the devices cannot be read. */
  async check(): Promise<void> {
    const { devices, owned, clock } = this.#options;
    const partitions = owned();
    const found = partitions.length === 0 ? [] : await devices.read(partitions);
    const now = clock.now();
    const known = new Map<string, DeviceFrame>();
    for (const device of found) {
      const { sessionId, lastSeenAt, telemetry } = device;
      const frame: DeviceFrame = deviceStatus(lastSeenAt, telemetry, now);
      known.set(sessionId, frame);
      const before = this.#known.get(sessionId)?.presence;
      if (before !== undefined && before !== frame.presence)
        this.#notify(sessionId, frame.presence);
    }
    this.#known = known;
  }

  #notify(sessionId: string, presence: Presence): void {
    this.#options.publish(sessionId, {
      type: "Warning",
      session_id: sessionId,
      code: `device_${presence}`,
      message:
        presence === "offline"
          ? "Nothing is heard of the recording device; what it keeps meanwhile may come later."
          : "The recording device is back.",
      retryable: true,
    });
  }
}
