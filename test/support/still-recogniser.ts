import type { RecognisedWord, Recogniser } from "../../workers/speech/recogniser.ts";

/** A recogniser that hears nothing and keeps nothing; tests override what they look at. */
export class StillRecogniser implements Recogniser {
  readonly engine: string = "still";
  readonly engineVersion = "1";

  async useVocabulary(): Promise<void> {}
  dropVocabulary(): void {}
  isAdapted(): boolean {
    return true;
  }
  calibrate(): void {}
  start(_position: number): void {}
  feed(_pcm: Int16Array): void {}
  hypothesis(): RecognisedWord[] {
    return [];
  }
  finish(): RecognisedWord[] {
    return [];
  }
  discard(): void {}
  state(): Uint8Array {
    return new Uint8Array(0);
  }
  restore(_state?: Uint8Array): void {}
  close(): void {}
}
