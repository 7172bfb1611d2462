import { SESSION_RATE } from "../../../src/base/audio/sample-rate.ts";
import { AppError, errorMessage } from "../../../src/base/errors.ts";
import type { SherpaSettings } from "../engine-settings.ts";
import { joined } from "../open-utterance.ts";
import type { RecognisedWord, Recogniser } from "../recogniser.ts";
import type { OfflineRecogniser, Punctuation } from "./sherpa-package.ts";
import { tokenWords } from "./token-words.ts";

const FULL_SCALE = 32_768;
const NO_STATE = new Uint8Array(0);

interface Decoding {
  words?: RecognisedWord[];
  error?: AppError;
}

/** What a thread shares of a model: it is loaded once, and each utterance gets a stream of it. */
export interface SharedModel<R> {
  recogniser: R;
  punctuation?: Punctuation;
}

/** Models that read a whole utterance at once, on a thread of the native library. */
export class SherpaOfflineRecogniser implements Recogniser {
  readonly engine: string;
  readonly engineVersion: string;
  readonly knowsNoise = true;
  readonly #model: SharedModel<OfflineRecogniser>;
  #position = 0;
  #blocks: Int16Array[] = [];
  #decoding: Decoding | undefined;
  #onSettled: (() => void) | undefined;

  constructor({ name, type }: SherpaSettings, model: SharedModel<OfflineRecogniser>) {
    this.engine = name;
    this.engineVersion = `sherpa-onnx ${type}`;
    this.#model = model;
  }

  /** These models take no vocabulary here. */
  async useVocabulary(): Promise<void> {}

  dropVocabulary(): void {}

  isAdapted(): boolean {
    return true;
  }

  calibrate(): void {}

  start(position: number): void {
    this.discard();
    this.#position = position;
  }

  feed(pcm: Int16Array): void {
    if (pcm.length > 0) this.#blocks.push(pcm);
  }

  hypothesis(): RecognisedWord[] {
    return [];
  }

  settle(): boolean {
    this.#decoding ??= this.#decode();
    return this.#decoding.words !== undefined || this.#decoding.error !== undefined;
  }

  onSettled(listener: (() => void) | undefined): void {
    this.#onSettled = listener;
  }

  finish(): RecognisedWord[] {
    const decoding = this.#decoding;
    this.discard();
    if (decoding?.error !== undefined) throw decoding.error;
    return decoding?.words ?? [];
  }

  discard(): void {
    this.#decoding = undefined;
    this.#blocks = [];
  }

  state(): Uint8Array {
    return NO_STATE;
  }

  restore(): void {
    this.discard();
  }

  close(): void {
    this.discard();
  }

  #decode(): Decoding {
    const decoding: Decoding = {};
    const pcm = joined(this.#blocks);
    const { recogniser, punctuation } = this.#model;
    const [start, end] = [this.#position, this.#position + pcm.length];
    const stream = recogniser.createStream();
    const samples = Float32Array.from(pcm, (sample) => sample / FULL_SCALE);
    stream.acceptWaveform({ samples, sampleRate: SESSION_RATE });
    const tell = (outcome: Decoding): void => {
      Object.assign(decoding, outcome);
      if (this.#decoding === decoding) this.#onSettled?.();
    };
    recogniser.decodeAsync(stream).then(
      (result) => {
        const text = punctuated(result.text, punctuation);
        tell({ words: tokenWords(result, text, start, end) });
      },
      (error: unknown) => tell({ error: new AppError("internal", errorMessage(error)) }),
    );
    return decoding;
  }
}

/** The text with capitals and sentence marks, if there is a model for them. */
export function punctuated(text: string, punctuation: Punctuation | undefined): string {
  const plain = text.trim();
  return plain === "" || punctuation === undefined ? plain : punctuation.addPunct(plain);
}
