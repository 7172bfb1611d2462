import type { AppError } from "../base/errors.ts";
import type { Runtime, Timer } from "../base/runtime.ts";
import type { Transcribers } from "../inference/transcription-stream.ts";
import type { RetranscriptionCommand, SessionCommand } from "../session/command.ts";
import { isAllPlaced } from "../session/redact-covered.ts";
import type { SessionState } from "../session/state.ts";
import type { Suspect } from "../session/status.ts";
import type { Opened } from "../wire/gen/voice/v1/worker.ts";
import type { AudioSource } from "./audio-source.ts";
import type { PoisonDetector } from "./poison-detector.ts";
import { Retranscription } from "./retranscription.ts";

/** A retranscription that does not show in the state after this time is repeated, milliseconds. */
const UNHEEDED = 60_000;

/**
 * Runs retranscriptions, of late audio or of the whole session, as the session's state asks for
 * them.
 */
export class Retranscriptions {
  readonly #options: RetranscriptionsOptions;
  #current: Retranscription | undefined;
  #unheeded: Timer | undefined;

  constructor(options: RetranscriptionsOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#current !== undefined;
  }

  /** True while a retranscription has not sent its result. */
  get isRunning(): boolean {
    return this.#current?.isRunning === true;
  }

  /** Closes a retranscription that is no longer wanted, and starts a wanted one if it may. */
  sync(state: Readonly<SessionState>, mayBegin: boolean): void {
    if (this.#current?.isWanted(state) === false) this.close();
    if (this.#current !== undefined) return this.#current.feed(state);
    if (mayBegin) this.#begin(state);
  }

  close(): void {
    this.#unheeded?.cancel();
    this.#current?.close();
    this.#current = undefined;
  }

  #begin(state: Readonly<SessionState>): void {
    const { source, transcribers, suspicionOf, isFirstRead, notify, ...options } = this.#options;
    this.#current = Retranscription.of(state, {
      source,
      transcribers,
      runtime: options.runtime,
      suspicionOf,
      complete: () => isAllPlaced(state),
      isFirstRead,
      onSuspects: options.onSuspects,
      onOpened: (opened: Opened) => {
        options.onOpened();
        if (state.redo?.started === false) notify({ type: "RecognitionOpened", ...opened });
      },
      onProgress: (attempt, processedTo) => {
        if (state.redo?.attempt !== attempt) return;
        const progress = processedTo / Math.max(1, state.timeline.position);
        notify({ type: "RedoProgress", attempt, progress });
      },
      onDone: (command, failed) => this.#done(command, failed),
      onFailed: (error) => {
        this.#current = undefined;
        options.onFailed(error);
      },
    });
    void this.#current?.start();
  }

  /**
   * Sends the result. The retranscription stays until its result shows in the state; no other one
   * begins before.
   */
  #done(
    command: RetranscriptionCommand,
    failed: { sequence: number; code: string; message: string }[],
  ): void {
    const { notify, onRead, runtime } = this.#options;
    for (const failure of failed) notify({ type: "ChunkFailed", ...failure });
    onRead();
    notify(command);
    this.#unheeded?.cancel();
    this.#unheeded = runtime.after(UNHEEDED, () => this.#readOnceMore());
  }

  /**
   * Repeats a reading whose result did not show: the record may have been away, or the command was
   * refused.
   */
  #readOnceMore(): void {
    if (this.#current?.isRunning !== false) return;
    this.#current = undefined;
    this.#options.onUnheeded();
  }
}

interface RetranscriptionsOptions {
  source: AudioSource;
  transcribers: Transcribers;
  runtime: Runtime;
  suspicionOf(attempt: number): PoisonDetector;
  /** True when the first reading has finished. */
  isFirstRead(): boolean;
  notify(command: SessionCommand): void;
  onSuspects(attempt: number, suspects: Suspect[]): void;
  /** Called when a worker has opened the reading. */
  onOpened(): void;
  /** Called when a retranscription is finished, before its result is sent. */
  onRead(): void;
  onFailed(error: AppError | undefined): void;
  /** Called when a result does not show in the state, which must then be looked at again. */
  onUnheeded(): void;
}
