import { type TSchema, Type } from "@sinclair/typebox";
import type { DeviceFrame } from "../wire/device-frames.ts";
import { frameParser } from "./frame-parser.ts";

const SessionId = Type.String({ minLength: 1, maxLength: 128 });
const oneOf = <T extends string>(...values: T[]) =>
  Type.Unsafe<T>({ type: "string", enum: values });

/** What a device may send as text, by `type`. */
export const DEVICE_FRAME_SCHEMAS = {
  Configure: Type.Object({
    type: Type.Literal("Configure"),
    session_id: Type.Optional(SessionId),
    encoding: oneOf("pcm_s16le", "opus", "mulaw"),
    sample_rate: Type.Integer({ minimum: 8_000, maximum: 48_000 }),
    channels: Type.Integer({ minimum: 1, maximum: 2 }),
    framing: Type.Optional(oneOf("packet", "length_prefixed")),
    title: Type.Optional(Type.String({ maxLength: 200 })),
    language: Type.Optional(
      Type.String({ pattern: "^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$", maxLength: 35 }),
    ),
    vocabulary: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 500 }),
    ),
    interim_results: Type.Optional(Type.Boolean()),
  }),
  Resume: Type.Object({
    type: Type.Literal("Resume"),
    session_id: SessionId,
    audio_offset_bytes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  }),
  Heartbeat: Type.Object({
    type: Type.Literal("Heartbeat"),
    battery_percent: Type.Optional(Type.Number({ minimum: 0, maximum: 100 })),
    rssi_dbm: Type.Optional(Type.Number()),
    recording: Type.Optional(Type.Boolean()),
    buffered_chunks: Type.Optional(Type.Integer({ minimum: 0 })),
    firmware: Type.Optional(Type.String({ maxLength: 200 })),
    period_seconds: Type.Optional(Type.Number({ minimum: 0.5, maximum: 3_600 })),
  }),
  Finalize: Type.Object({ type: Type.Literal("Finalize") }),
  KeepAlive: Type.Object({ type: Type.Literal("KeepAlive") }),
  CloseStream: Type.Object({ type: Type.Literal("CloseStream") }),
} as const satisfies Record<DeviceFrame["type"], TSchema>;

/** The frame in a text message; throws `bad_request` with what is wrong with it. */
export const parseDeviceFrame = frameParser<DeviceFrame>(DEVICE_FRAME_SCHEMAS);
