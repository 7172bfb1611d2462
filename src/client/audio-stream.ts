import { AudioSender, type AudioSenderOptions } from "./audio-sender.ts";

export type AudioStreamOptions = Omit<AudioSenderOptions, "open" | "path" | "configuration">;

/**
 * Audio as it comes. It connects by itself and again after each break, and keeps what is not stored,
 * so that not one sample is lost or doubled.
 */
export class AudioStream {
  readonly #sender: AudioSender;
  readonly #running: Promise<void>;
  #failure: unknown;
  #hasFailed = false;
  #stored = 0;
  /** Writers that wait for room. */
  #waiting: (() => void)[] = [];

  constructor(options: AudioSenderOptions) {
    this.#sender = new AudioSender({
      ...options,
      onStored: (offset) => {
        this.#stored = offset;
        this.#wake();
        options.onStored?.(offset);
      },
    });
    this.#running = this.#sender.run();
    // Told by the next `write`, or by `end`.
    this.#running.catch((error: unknown) => {
      this.#hasFailed = true;
      this.#failure = error;
      this.#wake();
    });
  }

  /** Bytes of the stream that the service has on disk. */
  get stored(): number {
    return this.#stored;
  }

  /**
   * Takes the next bytes; of Opus one packet, or several with their lengths. Resolves when there is
   * room for more, which a source may ignore that cannot wait. Rejects with what ended the stream.
   */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.#hasFailed) throw this.#failure;
    this.#sender.push(bytes);
    while (this.#sender.isFull && !this.#hasFailed) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    if (this.#hasFailed) throw this.#failure;
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const go of waiting) go();
  }

  /** Ends the current utterance, as at the end of a turn. */
  finalize(): void {
    this.#sender.finalize();
  }

  /** Resolves when all that was written is stored; the session goes on until it is stopped. */
  end(): Promise<void> {
    this.#sender.end();
    return this.#running;
  }
}
