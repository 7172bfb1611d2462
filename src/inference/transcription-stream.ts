import type { AppError } from "../base/errors.ts";
import type { TranscribeRequest, TranscribeResponse } from "../wire/gen/voice/v1/worker.ts";
import type { EngineRequest } from "./engine-choice.ts";
import type { Asker } from "./fair-slots.ts";

/** A message of the client; the stream itself batches messages of one turn. */
export type TranscribeMessage = Exclude<
  NonNullable<TranscribeRequest["message"]>,
  { $case: "batch" }
>;
export type TranscribeResult = NonNullable<TranscribeResponse["message"]>;

/** A client's view of the reading of one session by a worker. Open must be sent first. */
export interface TranscriptionStream {
  /**
   * Sends a message. False when the transport is full or the worker far behind (90 s of audio):
   * then wait for `onDrain`. The message was taken either way.
   */
  send(message: TranscribeMessage): boolean;
  /** Receives messages in the order in which the worker sent them. */
  onMessage(listener: (message: TranscribeResult) => void): void;
  onDrain(listener: () => void): void;
  /**
   * Called at most once, and never after `cancel`: with undefined after a clean end (after Done),
   * else with an AppError (unavailable, overloaded, timeout, unauthorized, bad_request, internal,
   * …).
   */
  onEnd(listener: (error: AppError | undefined) => void): void;
  /** Half-closes the stream: nothing more may be sent. */
  finish(): void;
  /** Abandons the reading; no listener is called any more. */
  cancel(): void;
}

/** Port: opens readings on workers. */
export interface Transcribers {
  /**
   * True while sessions of this process wait for a place at a worker: a reading that has nothing to
   * read then gives its own up soon.
   */
  readonly isCrowded: boolean;
  /**
   * Opens a reading by the engine that fits the request. Throws `unavailable` when there is no worker,
   * `engine_unavailable` when none has such an engine, and `overloaded` when all are full: then
   * `asker` is woken when a place is kept for it, unless it asks again by itself before.
   */
  open(request: EngineRequest, asker?: Asker): TranscriptionStream;
}
