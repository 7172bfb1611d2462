import type { Log } from "../../base/log.ts";
import type { Runtime } from "../../base/runtime.ts";
import { TroubleLog } from "../../base/trouble-log.ts";
import { deviceStatus, type Presence } from "../../session/presence.ts";
import type { DeviceFrame, WarningFrame } from "../../wire/live-frames.ts";
import type { RecordingDeviceStore } from "./presence-store.ts";

interface PresenceWatchOptions {
  devices: Pick<RecordingDeviceStore, "read">;
  /** Returns this host's partitions: each session is watched by the host that owns it. */
  owned(): readonly number[];
  publish(sessionId: string, frame: WarningFrame): void;
  runtime: Runtime;
  log: Log;
  /** Time between two polls, milliseconds. */
  every: number;
}

/**
 * Watches the devices of this host's sessions and sends warnings to viewers when one goes silent
 * and when it comes back.
 */
export class PresenceWatch {
  readonly #options: PresenceWatchOptions;
  readonly #stop = new AbortController();
  #known = new Map<string, DeviceFrame>();
  #loop: Promise<void> | undefined;

  constructor(options: PresenceWatchOptions) {
    this.#options = options;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
  }

  /** The state of the session's device; undefined when it is unknown or the session is over. */
  of(sessionId: string): DeviceFrame | undefined {
    return this.#known.get(sessionId);
  }

  /** Looks once; rejects when the devices cannot be read. */
  async check(): Promise<void> {
    const { devices, owned, runtime } = this.#options;
    const partitions = owned();
    const found = partitions.length === 0 ? [] : await devices.read(partitions);
    const now = runtime.now();
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

  async #run(): Promise<void> {
    const { log, runtime } = this.#options;
    const trouble = new TroubleLog(log, "devices not readable", runtime);
    while (!this.#stop.signal.aborted) {
      await this.check().then(
        () => trouble.worked(),
        (error: unknown) => trouble.failed(error),
      );
      await this.#options.runtime.delay(this.#options.every, this.#stop.signal);
    }
  }
}
