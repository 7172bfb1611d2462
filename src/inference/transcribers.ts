import type { TranscriptionStream } from "./transcription-stream.ts";

/** Port: opens a reading on some worker. */
export interface Transcribers {
  /** Throws `unavailable` when there is no worker, `overloaded` when all are full. */
  open(): TranscriptionStream;
}
