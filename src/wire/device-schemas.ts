import { type Static, type TObject, Type } from "@sinclair/typebox";
import type { AudioAckFrame, BeginFrame } from "./device-frames.ts";
import { type Agree, SERVER_FRAMES, type Strict, transient } from "./live-schemas.ts";

const oneOf = <T extends string>(...values: T[]) =>
  Type.Unsafe<T>({ type: "string", enum: values });

const begin = transient("Begin", {
  seq: Type.Integer({ description: "Newest durable event of the session" }),
  audio_offset_bytes: Type.Integer({
    description: "From this byte of its stream on it must send",
    examples: [0],
  }),
  configuration: Type.Object({
    encoding: oneOf("pcm_s16le", "opus", "mulaw"),
    sample_rate: Type.Integer(),
    channels: Type.Integer(),
    framing: oneOf("packet", "length_prefixed"),
    interim_results: Type.Boolean(),
  }),
});

const audioAck = transient("AudioAck", {
  audio_offset_bytes: Type.Integer({
    description: "Everything before it is on disk and committed: the device may forget it",
    examples: [64_000],
  }),
});

const { SpeechStarted, UtteranceEnd, SessionStatus, Heartbeat, Warning } = SERVER_FRAMES;

/** All that a device is told on its stream, by message name, with what it says. */
export const DEVICE_SERVER_FRAMES = {
  Begin: { summary: "The stream is open.", payload: begin },
  AudioAck: { summary: "Audio is stored.", payload: audioAck },
  SpeechStarted,
  UtteranceEnd,
  SessionStatus,
  Heartbeat,
  Warning,
  Error: SERVER_FRAMES.Error,
} as const satisfies Record<string, { summary: string; payload: TObject }>;

/** Does not compile when a schema and its frame differ. */
export const DEVICE_SCHEMAS_ARE_THE_FRAMES: Agree<
  Strict<Static<typeof begin> | Static<typeof audioAck>>,
  Strict<BeginFrame | AudioAckFrame>
> = true;
