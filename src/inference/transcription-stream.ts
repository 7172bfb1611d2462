import type { AppError } from "../base/errors.ts";
import type { TranscribeRequest, TranscribeResponse } from "../wire/gen/voice/v1/worker.ts";

/** The stream itself makes batches of what is sent in one turn. */
export type TranscribeMessage = Exclude<
  NonNullable<TranscribeRequest["message"]>,
  { $case: "batch" }
>;
export type TranscribeResult = NonNullable<TranscribeResponse["message"]>;

/** The reading of one session by a worker, as its client sees it. Open goes first. */
export interface TranscriptionStream {
  /**
   * False when the transport is full or the worker far behind (90 s of audio): wait for `onDrain`.
   * The message was taken either way.
   */
  send(message: TranscribeMessage): boolean;
  /** In the order of the worker. */
  onMessage(listener: (message: TranscribeResult) => void): void;
  onDrain(listener: () => void): void;
  /**
   * At most once, and never after `cancel`: with undefined after a clean end (after Done), else
   * with an AppError (unavailable, overloaded, timeout, unauthorized, bad_request, internal, …).
   */
  onEnd(listener: (error: AppError | undefined) => void): void;
  /** Half-close: nothing more will be sent. */
  finish(): void;
  /** Lets the worker forget the session; no listener is called any more. */
  cancel(): void;
}

/** Port: opens a reading on some worker. */
export interface Transcribers {
  /** Throws `unavailable` when there is no worker, `overloaded` when all are full. */
  open(): TranscriptionStream;
}
