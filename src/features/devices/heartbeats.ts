import { type Static, Type } from "@sinclair/typebox";

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

export type Telemetry = Static<typeof telemetrySchema>;

export interface HeartbeatCommand {
  type: "renew_key" | "stop_recording";
}

export interface HeartbeatAnswer {
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
export interface HeartbeatBook {
  /** Id of the session that the device records. */
  recording(deviceId: string): Promise<string | undefined>;
  /** All or none; what was heard before what is there already changes nothing. In the record's time. */
  record(beats: readonly Beat[]): Promise<void>;
}
