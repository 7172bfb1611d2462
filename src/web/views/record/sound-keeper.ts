import type { SavedAudio } from "./saved-audio.ts";

/** Sound is written to the browser's database in parts of at least so many bytes. */
const PART_BYTES = 16 * 1024;
/** What is stored is let go of at most so often, milliseconds. */
const FORGET_MS = 2_000;

/**
 * Keeps the sound of one recording in the browser as it comes, one write after the other. Where the
 * browser has no room for more, the recording goes on without.
 */
export class SoundKeeper {
  readonly #kept: SavedAudio;
  readonly #sessionId: string;
  readonly #onFailure: () => void;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  /** Offset in the stream of the first byte that waits. */
  #offset: number;
  #forgottenAt = 0;
  #work: Promise<void> = Promise.resolve();
  #hasFailed = false;

  /**
   * @param offset where the sound begins that will be pushed
   * @param onFailure called once, when nothing more can be kept
   */
  constructor(kept: SavedAudio, sessionId: string, offset: number, onFailure: () => void) {
    this.#kept = kept;
    this.#sessionId = sessionId;
    this.#offset = offset;
    this.#onFailure = onFailure;
  }

  push(bytes: Uint8Array): void {
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.byteLength;
    if (this.#waitingBytes >= PART_BYTES) this.flush();
  }

  /** Writes what waits. */
  flush(): void {
    if (this.#waitingBytes === 0) return;
    const bytes = new Uint8Array(this.#waitingBytes);
    let at = 0;
    for (const part of this.#waiting) {
      bytes.set(part, at);
      at += part.byteLength;
    }
    const offset = this.#offset;
    this.#offset += bytes.byteLength;
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#then(() => this.#kept.append(this.#sessionId, offset, bytes));
  }

  /** Everything before this offset is stored by the service. */
  forget(offset: number): void {
    const now = performance.now();
    if (now - this.#forgottenAt < FORGET_MS) return;
    this.#forgottenAt = now;
    this.#then(() => this.#kept.forget(this.#sessionId, offset));
  }

  /** The whole recording is stored. */
  async remove(): Promise<void> {
    this.#then(() => this.#kept.remove(this.#sessionId));
    await this.#work;
  }

  #then(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch(() => {
      if (!this.#hasFailed) this.#onFailure();
      this.#hasFailed = true;
    });
  }
}
