import type { Log } from "../base/log.ts";
import type { Runtime } from "../base/runtime.ts";
import type { Transcribers } from "../inference/transcription-stream.ts";
import type { SessionCommand } from "../session/command.ts";
import type { DeviceFrame, TransientFrame } from "../wire/live-frames.ts";
import type { AudioSource } from "./audio-source.ts";
import type { FinalTimes } from "./final-times.ts";
import type { StreamTails } from "./stream-tail.ts";

export interface SessionRecognitionOptions {
  sessionId: string;
  source: AudioSource;
  transcribers: Transcribers;
  /** What is streamed and no chunk yet. */
  tails: StreamTails;
  log: Log;
  runtime: Runtime;
  /** Queues a command to the session itself; false when it is full or gone. */
  tell(command: SessionCommand): boolean;
  /** Where the worker's times are added up. */
  times?: FinalTimes;
  /** How the recording device does, if it is known. */
  device?(): DeviceFrame | undefined;
  /** How far the session was read, in samples; told when it has changed. */
  readTo?(sessionId: string, samples: number): void;
  publish(frame: TransientFrame): void;
}
