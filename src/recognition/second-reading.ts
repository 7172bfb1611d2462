import type { AppError } from "../base/errors.ts";
import type { Runtime, Timer } from "../base/runtime.ts";
import type { Transcribers } from "../inference/transcription-stream.ts";
import type { RereadCommand, SessionCommand } from "../session/command.ts";
import { isAllPlaced } from "../session/redact-covered.ts";
import type { SessionState } from "../session/state.ts";
import type { Suspect } from "../session/status.ts";
import type { Opened } from "../wire/gen/voice/v1/worker.ts";
import type { AudioSource } from "./audio-source.ts";
import type { PoisonDetector } from "./poison-detector.ts";
import { Rereading } from "./rereading.ts";

/** A second reading that does not show in the state after this time is repeated, milliseconds. */
const UNHEEDED = 60_000;

/**
 * Runs second readings, of late audio or of the whole session, as the session's state asks for
 * them.
 */
export class SecondReading {
  readonly #options: SecondReadingOptions;
  #rereading: Rereading | undefined;
  #unheeded: Timer | undefined;

  constructor(options: SecondReadingOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#rereading !== undefined;
  }

  /** True while a second reading has not sent its result. */
  get isReading(): boolean {
    return this.#rereading?.isReading === true;
  }

  /** Closes a second reading that is no longer wanted, and starts a wanted one if it may. */
  sync(state: Readonly<SessionState>, mayBegin: boolean): void {
    if (this.#rereading?.isWanted(state) === false) this.close();
    if (this.#rereading !== undefined) return this.#rereading.feed(state);
    if (mayBegin) this.#begin(state);
  }

  close(): void {
    this.#unheeded?.cancel();
    this.#rereading?.close();
    this.#rereading = undefined;
  }

  #begin(state: Readonly<SessionState>): void {
    const { source, transcribers, suspicionOf, isFirstRead, notify, ...options } = this.#options;
    this.#rereading = Rereading.of(state, {
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
        this.#rereading = undefined;
        options.onFailed(error);
      },
    });
    void this.#rereading?.start();
  }

  /**
   * Sends the result. The second reading stays until its result shows in the state; no other one
   * begins before.
   */
  #done(
    command: RereadCommand,
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
    if (this.#rereading?.isReading !== false) return;
    this.#rereading = undefined;
    this.#options.onUnheeded();
  }
}

interface SecondReadingOptions {
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
  /** Called when a second reading is finished, before its result is sent. */
  onRead(): void;
  onFailed(error: AppError | undefined): void;
  /** Called when a result does not show in the state, which must then be looked at again. */
  onUnheeded(): void;
}
