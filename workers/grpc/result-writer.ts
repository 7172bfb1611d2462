import type { EncodedResult } from "../threads/thread-protocol.ts";
import type { EncodedCall } from "./worker-service.ts";

interface ResultWriterOptions {
  call: EncodedCall;
  /**
   * Called when the stream is full and when it has room again; the caller pauses results in
   * between.
   */
  onCongestion: (congested: boolean) => void;
  /** Called when more than MAX_WAITING results wait. */
  onOverflow: () => void;
}

/** Most results that wait for a client that does not read. */
export const MAX_WAITING = 4_096;

/**
 * Writes results at the client's pace. Results that still come during congestion (of steps that
 * were running when it began) wait here; of hypotheses and progress only the newest is kept.
 */
export class ResultWriter {
  readonly #call: EncodedCall;
  readonly #onCongestion: (congested: boolean) => void;
  readonly #onOverflow: () => void;
  #waiting: EncodedResult[] = [];
  #congested = false;
  #isHeld = false;
  #ending = false;

  constructor(options: ResultWriterOptions) {
    this.#call = options.call;
    this.#onCongestion = options.onCongestion;
    this.#onOverflow = options.onOverflow;
    this.#call.on("drain", () => this.#drain());
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  write(result: EncodedResult): void {
    if (this.#ending) return;
    if (this.#congested) this.#wait(result);
    else this.#send(result);
  }

  /** Ends the call when everything is written. */
  end(): void {
    this.#ending = true;
    if (!this.#congested) this.#call.end();
  }

  #send(result: EncodedResult): void {
    const { buffer, byteOffset, byteLength } = result.bytes;
    this.#congested ||= !this.#call.write(Buffer.from(buffer, byteOffset, byteLength));
    if (!this.#congested || this.#isHeld) return;
    this.#isHeld = true;
    this.#onCongestion(true);
  }

  #wait(result: EncodedResult): void {
    if (isSuperseded(result)) {
      this.#waiting = this.#waiting.filter((waiting) => waiting.kind !== result.kind);
    }
    this.#waiting.push(result);
    if (this.#waiting.length > MAX_WAITING) this.#onOverflow();
  }

  #drain(): void {
    this.#congested = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const result of waiting) {
      if (this.#congested) this.#waiting.push(result);
      else this.#send(result);
    }
    if (this.#congested) return;
    if (this.#ending) this.#call.end();
    else if (this.#isHeld) {
      this.#isHeld = false;
      this.#onCongestion(false);
    }
  }
}

function isSuperseded(result: EncodedResult): boolean {
  return result.kind === "hypothesis" || result.kind === "progress";
}
