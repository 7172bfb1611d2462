import { type Static, type TObject, Type } from "@sinclair/typebox";
import { oneOf, SERVER_FRAMES, transient } from "./live-frames.ts";
import { nameSchema } from "./names.ts";
import { LANGUAGE_PATTERN } from "./speech-engines.ts";
import { namedSession } from "./viewer-frames.ts";
import { vocabularySchema } from "./vocabulary.ts";

/** What a device may read of the session that it records. */
const reading = {
  transcript: Type.Optional(
    Type.Boolean({
      description:
        "True: this stream gets the session's words too, while its owner lets the device read (`may_read` of PATCH /devices/{device_id}): `Results`, `SegmentRevised`, `TranscriptReplaced`, `SpeakerRevision`, `Redacted`. Without that right, or once it is taken back, `Error` `forbidden` tells so; the recording goes on.",
      examples: [true],
    }),
  ),
  from_seq: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        "With `transcript`: the `seq` of the newest frame that the device has; what came after it is told first, each once; with 0 the words of the whole session. Without it the words begin with this stream.",
      examples: [41],
    }),
  ),
};

/** Schemas of a device's text frames, by `type`. */
export const DEVICE_FRAME_SCHEMAS = {
  Configure: Type.Object({
    type: Type.Literal("Configure"),
    session_id: Type.Optional(namedSession),
    encoding: Type.Unsafe<"pcm_s16le" | "opus" | "mulaw">({
      type: "string",
      enum: ["pcm_s16le", "opus", "mulaw"],
      description:
        "What the bytes are: 16-bit little-endian samples, Opus packets (RFC 6716), or µ-law samples of one byte. Bare, never a file: WAV, Ogg, WebM, MP3, MP4 or FLAC are refused. All connections of one session send the same.",
    }),
    sample_rate: Type.Integer({
      minimum: 8_000,
      maximum: 48_000,
      description: "Hz, of PCM and µ-law. Opus is decoded at 16 kHz whatever it says here.",
      examples: [16_000],
    }),
    channels: Type.Integer({ minimum: 1, maximum: 2, description: "Two are mixed to one." }),
    framing: Type.Optional(
      Type.Unsafe<"packet" | "length_prefixed">({
        type: "string",
        enum: ["packet", "length_prefixed"],
        description:
          "Of Opus. `packet` (the default): each binary message is one packet. `length_prefixed`: a message holds one packet or more, each after its length in bytes as two bytes, the higher one first (big-endian uint16), and no packet is cut over two messages.",
      }),
    ),
    title: Type.Optional(nameSchema({ maxLength: 200 })),
    language: Type.Optional(Type.String({ pattern: LANGUAGE_PATTERN, maxLength: 35 })),
    engine: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: "The speech engine of a session that begins with this, a name of GET /engines",
        examples: ["moonshine-tiny-en"],
      }),
    ),
    vocabulary: Type.Optional(
      vocabularySchema("Words and phrases that are expected, besides those of the workspace"),
    ),
    interim_results: Type.Optional(
      Type.Boolean({
        description:
          "False: viewers of the session get final results only, also of what is uploaded to it. True by default; the newest connection decides.",
        examples: [true],
      }),
    ),
    ...reading,
  }),
  Resume: Type.Object({
    type: Type.Literal("Resume"),
    session_id: namedSession,
    audio_offset_bytes: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "The oldest byte of the session's stream that the device still has",
      examples: [649_600],
    }),
    ...reading,
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
} as const;

const chunkSequence = Type.Integer({
  description:
    "Number of the next chunk, not of the last: an upload that goes on where the stored part of the stream ends has it. When the right to the stream has ended (4401, or 401 and 403 at the upgrade), the device's key may for 24 h still bring the bytes from `audio_offset_bytes` on with `POST /sessions/{id}/upload-audio`, from this number on, and then stop the session.",
  examples: [2],
});

const begin = transient("Begin", {
  seq: Type.Integer({ description: "Newest durable event of the session" }),
  audio_offset_bytes: Type.Integer({
    description: "From this byte of its stream on it must send, whatever Resume said",
    examples: [0],
  }),
  chunk_sequence: chunkSequence,
  configuration: Type.Object({
    encoding: oneOf("pcm_s16le", "opus", "mulaw"),
    sample_rate: Type.Integer(),
    channels: Type.Integer(),
    framing: oneOf("packet", "length_prefixed"),
    interim_results: Type.Boolean(),
    transcript: Type.Boolean({
      description: "True when the stream gets the session's words",
      examples: [true],
    }),
  }),
});

const audioAck = transient("AudioAck", {
  audio_offset_bytes: Type.Integer({
    description: "Everything before it is on disk and committed: the device may forget it",
    examples: [64_000],
  }),
  chunk_sequence: chunkSequence,
});

const { SpeechStarted, UtteranceEnd, SessionStatus, Heartbeat, Warning } = SERVER_FRAMES;
const { SegmentRevised, TranscriptReplaced, SpeakerRevision, Redacted } = SERVER_FRAMES;

/** All frames that a device receives on its stream, by message name, with a summary. */
export const DEVICE_SERVER_FRAMES = {
  Begin: { summary: "The stream is open.", payload: begin },
  AudioAck: { summary: "Audio is stored.", payload: audioAck },
  SpeechStarted,
  UtteranceEnd,
  SessionStatus,
  Heartbeat,
  Warning,
  InterimResults: SERVER_FRAMES.InterimResults,
  FinalResults: SERVER_FRAMES.FinalResults,
  SegmentRevised,
  TranscriptReplaced,
  SpeakerRevision,
  Redacted,
  Error: SERVER_FRAMES.Error,
} as const satisfies Record<string, { summary: string; payload: TObject }>;

type Frames = typeof DEVICE_FRAME_SCHEMAS;

/** A frame that a device sends besides binary audio. */
export type DeviceFrame = Static<Frames[keyof Frames]>;

export type ConfigureFrame = Static<Frames["Configure"]>;

type ServerFrames = typeof DEVICE_SERVER_FRAMES;

/** A frame that a device receives; only those that `transcript` asks for contain words. */
export type DeviceServerFrame = Static<ServerFrames[keyof ServerFrames]["payload"]>;
