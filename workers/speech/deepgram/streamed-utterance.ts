import { SESSION_RATE } from "../../../src/base/audio/sample-rate.ts";
import type { RecognisedWord } from "../recogniser.ts";
import type { ServerMessage, StreamedWord } from "./results-message.ts";

type Results = Extract<ServerMessage, { kind: "results" }>;

/** Times are told with a rounding of some milliseconds; seconds. */
const ROUNDING = 0.02;

/** The words that a server told of one utterance, whose sound lies in a part of its stream. */
export class StreamedUtterance {
  /** Where it begins on the session's timeline, samples. */
  readonly #position: number;
  /** Where it begins in the stream, seconds. */
  readonly #from: number;
  #samples = 0;
  #final: StreamedWord[] = [];
  #interim: StreamedWord[] = [];
  #finalTo: number;
  #isFlushed = false;

  /** @param streamed samples that the stream carried before */
  constructor(position: number, streamed: number) {
    this.#position = position;
    this.#from = streamed / SESSION_RATE;
    this.#finalTo = this.#from;
  }

  sent(samples: number): void {
    this.#samples += samples;
  }

  hear({ start, end, words, isFinal, isFlushed }: Results): void {
    // Late words of the utterance before.
    if (end <= this.#from + ROUNDING) return;
    const own = words.filter((word) => word.end > this.#from);
    this.#interim = isFinal ? [] : own;
    if (isFinal && start >= this.#finalTo - ROUNDING) {
      this.#final.push(...own);
      this.#finalTo = Math.max(this.#finalTo, end);
    }
    this.#isFlushed ||= isFlushed;
  }

  /** True when nothing more is to come for the sound that was sent. */
  get isComplete(): boolean {
    return this.#isFlushed || this.#finalTo >= this.#from + this.#samples / SESSION_RATE - ROUNDING;
  }

  /** The words so far, of which none is final yet. */
  hypothesis(): RecognisedWord[] {
    const words = [...this.#final, ...this.#interim];
    return words.map((word) => ({ ...this.#placed(word), confidence: 0 }));
  }

  words(): RecognisedWord[] {
    return this.#final.map((word) => this.#placed(word));
  }

  #placed({ text, start, end, confidence }: StreamedWord): RecognisedWord {
    const at = (seconds: number): number => {
      const samples = Math.round((seconds - this.#from) * SESSION_RATE);
      return this.#position + Math.max(0, Math.min(this.#samples, samples));
    };
    return { text, start: at(start), end: at(end), confidence };
  }
}
