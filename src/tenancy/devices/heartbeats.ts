import { type Static, Type } from "@sinclair/typebox";
import type { DevicePrincipal } from "../../access/principal.ts";
import type { Clock } from "../../base/clock.ts";
import { withTimeout } from "../../base/deferred.ts";
import { AppError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { QueueFigures, QueueOwner } from "../../base/queue-metrics.ts";
import { TroubleLog } from "../../base/trouble-log.ts";
import { cutToName } from "../../wire/names.ts";

const MOST_FIRMWARE = 200;

/** A device's report of its own state. Unknown members are kept as they are. */
export const telemetrySchema = Type.Object(
  {
    battery_percent: Type.Optional(Type.Number({ minimum: 0, maximum: 100 })),
    rssi_dbm: Type.Optional(Type.Number()),
    recording: Type.Optional(Type.Boolean()),
    buffered_chunks: Type.Optional(Type.Integer({ minimum: 0 })),
    firmware: Type.Optional(Type.String({ maxLength: MOST_FIRMWARE })),
    period_seconds: Type.Optional(
      Type.Number({
        minimum: 0.5,
        maximum: 3_600,
        description: "Time until the next heartbeat",
      }),
    ),
  },
  { $id: "Heartbeat", additionalProperties: true },
);

type Telemetry = Static<typeof telemetrySchema>;

export interface HeartbeatCommand {
  type: "renew_key" | "stop_recording";
}

interface HeartbeatAnswer {
  /** Unix milliseconds. */
  serverTime: number;
  /** The session that the device is recording, read after the heartbeat came. */
  sessionId: string | undefined;
  commands: HeartbeatCommand[];
}

/** The last heartbeat of one device, ready to be written. */
export interface Beat {
  deviceId: string;
  /** How long ago the heartbeat came, milliseconds; the database computes the time from it. */
  ago: number;
  /** JSON; undefined when the device sent something else than a heartbeat. */
  telemetry: string | undefined;
  firmware: string | undefined;
}

/** Port: stores heartbeats. */
export interface HeartbeatStore {
  /** The id of the session that the device is recording. */
  recording(deviceId: string): Promise<string | undefined>;
  /** Stores all heartbeats or none. A heartbeat older than the stored one changes nothing. */
  record(beats: readonly Beat[]): Promise<void>;
}

const TELEMETRY_BYTES = 8_192;
const RENEW_BEFORE = 7 * 24 * 3_600_000;
const FLUSH_MS = 1_000;
const STOP_MS = 2_000;
/** Most devices whose heartbeats wait to be written; reached only while the database is away. */
const MAX_WAITING = 100_000;

/** The last heartbeat of a device, until it is written. */
interface Heard extends Omit<Beat, "ago"> {
  /** Monotonic milliseconds. */
  at: number;
}

interface HeartbeatWriterOptions {
  store: HeartbeatStore;
  clock: Clock;
  log: Log;
}

/**
 * Takes heartbeats of devices, over REST and over their WebSocket. Keeps the newest of each device
 * in memory and writes all of them together about once a second. Between two writes it only reads
 * the devices' sessions, many devices at a time.
 */
export class HeartbeatWriter implements QueueOwner {
  readonly #options: HeartbeatWriterOptions;
  readonly #trouble: TroubleLog;
  #waiting = new Map<string, Heard>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #stopped = false;
  #refused = 0;

  constructor(options: HeartbeatWriterOptions) {
    this.#options = options;
    const { log, clock } = options;
    this.#trouble = new TroubleLog(log, "heartbeats not written, trying again", clock);
  }

  get queues(): readonly QueueFigures[] {
    const length = this.#waiting.size;
    return [{ queue: "heartbeats", length, limit: MAX_WAITING, refused: this.#refused }];
  }

  /**
   * Takes a heartbeat. It is written within about a second, together with others, and lost when the
   * process dies before; the device's next heartbeat repeats it. Throws `invalid_body` when the
   * telemetry is too large, `overloaded` when too many wait, `unavailable` when storage is away.
   */
  async beat(device: DevicePrincipal, telemetry: Telemetry): Promise<HeartbeatAnswer> {
    const now = this.#take(device, telemetry);
    const sessionId = await this.#options.store.recording(device.id);
    const commands = commandsOf(device, telemetry, sessionId !== undefined, now);
    return { serverTime: now, sessionId, commands };
  }

  /**
   * Like `beat`, but answers without the session, which is looked up only when a command depends on
   * it.
   */
  async hear(device: DevicePrincipal, telemetry: Telemetry): Promise<HeartbeatCommand[]> {
    const now = this.#take(device, telemetry);
    const isRight =
      telemetry.recording !== true ||
      (await this.#options.store.recording(device.id)) !== undefined;
    return commandsOf(device, telemetry, isRight, now);
  }

  /** Keeps the heartbeat and returns when it came, Unix milliseconds. */
  #take(device: DevicePrincipal, telemetry: Telemetry): number {
    const text = JSON.stringify(telemetry);
    if (Buffer.byteLength(text) > TELEMETRY_BYTES) {
      throw new AppError("invalid_body", `A heartbeat may have ${TELEMETRY_BYTES} bytes.`);
    }
    const now = this.#options.clock.now();
    const firmware = telemetry.firmware && cutToName(telemetry.firmware, MOST_FIRMWARE);
    const at = this.#options.clock.monotonic();
    if (!this.#keep({ deviceId: device.id, at, telemetry: text, firmware })) {
      throw new AppError("overloaded", "Too many heartbeats wait to be written.", {
        retryAfter: 5,
      });
    }
    return now;
  }

  /** Notes that a device is connected because it sent something else, for example audio. */
  seen(deviceId: string): void {
    const at = this.#options.clock.monotonic();
    const known = this.#waiting.get(deviceId);
    // Audio comes many times a second; one note per write is enough.
    if (known !== undefined && at - known.at < FLUSH_MS) return;
    this.#keep({ deviceId, at, telemetry: undefined, firmware: undefined });
  }

  /** Writes all waiting heartbeats at once, for readers that need the newest state. */
  flush(): Promise<void> {
    this.#writing = this.#writing.catch(() => {}).then(() => this.#write());
    return this.#writing;
  }

  /** Writes the waiting heartbeats, waiting at most two seconds. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await withTimeout(this.flush(), STOP_MS, "Writing the last heartbeats").catch(() => {});
  }

  /** Keeps a heartbeat; newer members replace older ones one by one. False when too many wait. */
  #keep(beat: Heard): boolean {
    const before = this.#waiting.get(beat.deviceId);
    if (before === undefined && this.#waiting.size >= MAX_WAITING) {
      this.#refused += 1;
      return false;
    }
    const telemetry = beat.telemetry ?? before?.telemetry;
    const firmware = beat.firmware ?? before?.firmware;
    this.#waiting.set(beat.deviceId, { ...beat, telemetry, firmware });
    this.#arm();
    return true;
  }

  #arm(): void {
    if (this.#timer !== undefined || this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.flush().then(
        () => this.#trouble.worked(),
        (error: unknown) => this.#trouble.failed(error),
      );
    }, FLUSH_MS);
  }

  async #write(): Promise<void> {
    if (this.#waiting.size === 0) return;
    const beats = this.#waiting;
    this.#waiting = new Map();
    try {
      const now = this.#options.clock.monotonic();
      await this.#options.store.record(
        [...beats.values()].map(({ at, ...beat }) => ({ ...beat, ago: Math.max(0, now - at) })),
      );
    } catch (error) {
      // Heartbeats that came meanwhile are newer and win.
      for (const [id, beat] of this.#waiting) {
        const { telemetry, firmware } = beats.get(id) ?? beat;
        beats.set(id, {
          ...beat,
          telemetry: beat.telemetry ?? telemetry,
          firmware: beat.firmware ?? firmware,
        });
      }
      this.#waiting = beats;
      this.#arm();
      throw error;
    }
  }
}

/**
 * The commands for a device. `isRight` is false when it says that it records but no session is
 * open.
 */
function commandsOf(
  { expiresAt }: DevicePrincipal,
  { recording }: Telemetry,
  isRight: boolean,
  now: number,
): HeartbeatCommand[] {
  const commands: HeartbeatCommand[] = [];
  if (expiresAt - now < RENEW_BEFORE) commands.push({ type: "renew_key" });
  if (recording === true && !isRight) commands.push({ type: "stop_recording" });
  return commands;
}
