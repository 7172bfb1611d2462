import type { AppError } from "../base/errors.ts";
import type { Runtime } from "../base/runtime.ts";
import type { TranscribeResult, Transcribers } from "../inference/transcription-stream.ts";
import type { Span } from "../session/segments.ts";
import type { Suspect } from "../session/status.ts";
import type { Gap, Timeline } from "../session/timeline.ts";
import type { AudioSource, StoredCheckpoint } from "./audio-source.ts";
import type { PoisonDetector } from "./poison-detector.ts";
import type { StreamTail } from "./stream-tail.ts";

export interface TranscriptionRunOptions {
  sessionId: string;
  attempt: number;
  /** The attempt from whose checkpoints it resumes. */
  checkpointAttempt: number;
  language: string;
  interim: boolean;
  /** True to read late chunks instead of the gaps that they fill. */
  readFilled: boolean;
  source: AudioSource;
  transcribers: Transcribers;
  runtime: Pick<Runtime, "delay">;
  /**
   * Returns false to wait until the worker has read more. `fedTo` is a position on the timeline,
   * `ahead` a number of samples.
   */
  mayFeed?(fedTo: number, ahead: number): boolean;
  /**
   * Called before anything is fed, with the checkpoint to resume from; undefined at the beginning.
   */
  onBegin?(checkpoint: StoredCheckpoint | undefined): void;
  /** Called when late audio is fed that fills this gap. */
  onLate?(gap: Gap): void;
  /**
   * Called when a chunk is left out at which too many readings broke; the span is on the timeline.
   */
  onUnread?(span: Span): void;
  /** Streamed audio that is no chunk yet; absent when only chunks are read. */
  tail?: StreamTail;
  /** Knows the chunks at which readings of this attempt broke. */
  detector: PoisonDetector;
  timeline(): Readonly<Timeline>;
  /** True when everything that belongs to the session is placed. */
  complete(): boolean;
  onMessage(message: TranscribeResult): void;
  /** Called before `onEnd` when the reading broke at one of these. */
  onSuspects(suspects: Suspect[]): void;
  /** Called when a place at a worker is kept for the session, after the reading found none. */
  onRoom?(): void;
  /** Called once, unless the reading was closed before. Undefined after Done. */
  onEnd(error: AppError | undefined): void;
  /** Called once when everything before a client's Finalize, at this position, was read. */
  onFinalized?(position: number): void;
}
