import type { Hypothesis, RecognisedWord, Recogniser } from "../../workers/speech/recogniser.ts";

/** A recogniser that hears nothing; tests override what they look at. */
export class StillRecogniser implements Recogniser {
  readonly engine: string = "still";
  readonly engineVersion = "1";

  useVocabulary(): void {}
  start(_position: number): void {}
  feed(_pcm: Int16Array): void {}
  hypothesis(): Hypothesis {
    return { words: [] };
  }
  finish(): RecognisedWord[] {
    return [];
  }
  discard(): void {}
  close(): void {}
}
