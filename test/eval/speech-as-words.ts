import type { SpeechEngine } from "../../src/wire/speech-engines.ts";
import { ACTIVITY_FRAME, SpeechActivity } from "../../workers/audio/speech-activity.ts";
import type { Hypothesis, RecognisedWord, Recogniser } from "../../workers/speech/recogniser.ts";

/** Speech of one word, samples (0.256 s). */
const WORD = 8 * ACTIVITY_FRAME;
const SPEECH = 0.5;

export const SPEECH_AS_WORDS: SpeechEngine = {
  name: "speech-as-words",
  languages: ["en"],
  streaming: false,
  wordTimes: true,
  punctuation: false,
  vocabulary: false,
  local: true,
  model: { name: "none", sha256: {} },
};

/**
 * An engine for measuring who speaks, in any language: wherever there is speech it hears words of a
 * quarter of a second, as the voice activity network tells.
 */
export class SpeechAsWords implements Recogniser {
  readonly engine = SPEECH_AS_WORDS.name;
  readonly engineVersion = "1";
  #position = 0;
  #pcm: Int16Array[] = [];

  useVocabulary(): void {}

  start(position: number): void {
    this.#position = position;
    this.#pcm = [];
  }

  feed(pcm: Int16Array): void {
    this.#pcm.push(pcm);
  }

  truncate(samples: number): void {
    const whole = this.#joined();
    this.#pcm = [whole.slice(0, samples)];
  }

  hypothesis(): Hypothesis {
    return { words: [] };
  }

  finish(): RecognisedWord[] {
    const pcm = this.#joined();
    const activity = new SpeechActivity();
    const words: RecognisedWord[] = [];
    for (let at = 0; at + ACTIVITY_FRAME <= pcm.length; at += ACTIVITY_FRAME) {
      const { probability } = activity.take(pcm.subarray(at, at + ACTIVITY_FRAME));
      if (probability < SPEECH) continue;
      const [start, end] = [this.#position + at, this.#position + at + ACTIVITY_FRAME];
      const last = words.at(-1);
      if (last?.end === start && end - last.start <= WORD) last.end = end;
      else words.push({ text: "word", start, end, confidence: 1 });
    }
    return words;
  }

  discard(): void {
    this.#pcm = [];
  }

  close(): void {}

  #joined(): Int16Array {
    const whole = new Int16Array(this.#pcm.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of this.#pcm) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }
}
