import { type Static, Type } from "@sinclair/typebox";
import type { DevicePrincipal } from "../../access/principal.ts";
import type { Clock } from "../../base/clock.ts";
import { withTimeout } from "../../base/deferred.ts";
import { AppError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { QueueFigures, QueueOwner } from "../../base/queue-metrics.ts";
import { TroubleLog } from "../../base/trouble-log.ts";

/** What a device says of itself. Unknown members are kept as they are. */
export const telemetrySchema = Type.Object({
  battery_percent: Type.Optional(Type.Number({ minimum: 0, maximum: 100 })),
  rssi_dbm: Type.Optional(Type.Number()),
  recording: Type.Optional(Type.Boolean()),
  buffered_chunks: Type.Optional(Type.Integer({ minimum: 0 })),
  firmware: Type.Optional(Type.String({ maxLength: 200 })),
  period_seconds: Type.Optional(
    Type.Number({
      minimum: 0.5,
      maximum: 3_600,
      description: "Time until the next heartbeat",
    }),
  ),
});

type Telemetry = Static<typeof telemetrySchema>;

export interface HeartbeatCommand {
  type: "renew_key" | "stop_recording";
}

interface HeartbeatAnswer {
  /** Unix milliseconds. */
  serverTime: number;
  /** The session that the device records now, as the record knew it after the heartbeat came. */
  sessionId: string | undefined;
  commands: HeartbeatCommand[];
}

/** What one device said last, as it is written. */
export interface Beat {
  deviceId: string;
  /** How long ago it was heard, milliseconds: what time it was, the record says. */
  ago: number;
  /** JSON; undefined when it only was seen. */
  telemetry: string | undefined;
  firmware: string | undefined;
}

/** Port: where heartbeats are kept. */
export interface HeartbeatStore {
  /** Id of the session that the device records. */
  recording(deviceId: string): Promise<string | undefined>;
  /** All or none; what was heard before what is there already changes nothing. In the record's time. */
  record(beats: readonly Beat[]): Promise<void>;
}

const TELEMETRY_BYTES = 8_192;
const RENEW_BEFORE = 7 * 24 * 3_600_000;
const FLUSH_MS = 1_000;
const STOP_MS = 2_000;
/** Devices whose news wait to be written; only a database that is away lets so many gather. */
const MAX_WAITING = 100_000;

/** What a device said last, until it is written. */
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
 * Devices say that they are there; over REST and over their WebSocket alike.
 * Keeps the newest news of each device in memory and writes all of them
 * together about once a second. Between two writes nothing but the session of
 * a device is read, many devices at a time.
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
   * Takes a heartbeat. What it says is written within about a second, together
   * with what others say, and is lost when the process dies before: the next
   * heartbeat says it again. Throws `invalid_body` when the telemetry is too
   * large, `unavailable` when storage is away.
   */
  async beat(device: DevicePrincipal, telemetry: Telemetry): Promise<HeartbeatAnswer> {
    const now = this.#take(device, telemetry);
    const sessionId = await this.#options.store.recording(device.id);
    const commands = commandsOf(device, telemetry, sessionId !== undefined, now);
    return { serverTime: now, sessionId, commands };
  }

  /** The same where nobody is told of the session: it is looked up only when a command hangs on it. */
  async hear(device: DevicePrincipal, telemetry: Telemetry): Promise<HeartbeatCommand[]> {
    const now = this.#take(device, telemetry);
    const isRight =
      telemetry.recording !== true ||
      (await this.#options.store.recording(device.id)) !== undefined;
    return commandsOf(device, telemetry, isRight, now);
  }

  /** When it was heard. */
  #take(device: DevicePrincipal, telemetry: Telemetry): number {
    const text = JSON.stringify(telemetry);
    if (Buffer.byteLength(text) > TELEMETRY_BYTES) {
      throw new AppError("invalid_body", `A heartbeat may have ${TELEMETRY_BYTES} bytes.`);
    }
    const now = this.#options.clock.now();
    const { firmware } = telemetry;
    const at = this.#options.clock.monotonic();
    if (!this.#keep({ deviceId: device.id, at, telemetry: text, firmware })) {
      throw new AppError("overloaded", "Too many heartbeats wait to be written.", {
        retryAfter: 5,
      });
    }
    return now;
  }

  /** Something else came from the device, for example audio: it is there. */
  seen(deviceId: string): void {
    const at = this.#options.clock.monotonic();
    const known = this.#waiting.get(deviceId);
    // Audio comes many times a second; once is enough until the next write.
    if (known !== undefined && at - known.at < FLUSH_MS) return;
    this.#keep({ deviceId, at, telemetry: undefined, firmware: undefined });
  }

  /** Writes at once what was heard; for whoever reads devices next. */
  flush(): Promise<void> {
    this.#writing = this.#writing.catch(() => {}).then(() => this.#write());
    return this.#writing;
  }

  /** Writes what is left, if the database lets it. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await withTimeout(this.flush(), STOP_MS, "Writing the last heartbeats").catch(() => {});
  }

  /** Newer news replace older ones, member by member. False when too many wait. */
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
      // What came meanwhile is newer and stays.
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

/** `isRight`: a device that says it records has a session that is open. */
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
