import type {
  HeartbeatFrame,
  SessionStatusFrame,
  SpeechStartedFrame,
  UtteranceEndFrame,
  WarningFrame,
} from "./live-frames.ts";

/** Frames of a device's stream (contract §5), besides binary audio. */

export interface ConfigureFrame {
  type: "Configure";
  /** The session that the device records, or a new one, unless told. */
  session_id?: string;
  encoding: "pcm_s16le" | "opus" | "mulaw";
  /** Of PCM and µ-law. */
  sample_rate: number;
  channels: number;
  /** Opus: one packet a message, or packets each after its length as uint16 big-endian. */
  framing?: "packet" | "length_prefixed";
  /** Of a session that this begins. */
  title?: string;
  language?: string;
  vocabulary?: string[];
  /** False: viewers get finals only. */
  interim_results?: boolean;
}

export interface ResumeFrame {
  type: "Resume";
  session_id: string;
  /** The oldest byte of its stream that the device still has. */
  audio_offset_bytes: number;
}

export interface DeviceHeartbeatFrame {
  type: "Heartbeat";
  battery_percent?: number;
  rssi_dbm?: number;
  recording?: boolean;
  buffered_chunks?: number;
  firmware?: string;
  /** Seconds until the next one. */
  period_seconds?: number;
}

/** What a device sends. */
export type DeviceFrame =
  | ConfigureFrame
  | ResumeFrame
  | DeviceHeartbeatFrame
  | { type: "Finalize" }
  | { type: "KeepAlive" }
  | { type: "CloseStream" };

export interface BeginFrame {
  type: "Begin";
  session_id: string;
  /** Newest durable event of the session. */
  seq: number;
  /** From here on the device must send. */
  audio_offset_bytes: number;
  configuration: {
    encoding: "pcm_s16le" | "opus" | "mulaw";
    sample_rate: number;
    channels: number;
    framing: "packet" | "length_prefixed";
    interim_results: boolean;
  };
}

export interface AudioAckFrame {
  type: "AudioAck";
  session_id: string;
  /** Everything before it is on disk and committed: the device may forget it. */
  audio_offset_bytes: number;
}

/** What a device is told; never what was said. */
export type DeviceServerFrame =
  | BeginFrame
  | AudioAckFrame
  | SpeechStartedFrame
  | UtteranceEndFrame
  | SessionStatusFrame
  | HeartbeatFrame
  | WarningFrame;
