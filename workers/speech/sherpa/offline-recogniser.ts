import { SESSION_RATE } from "../../../src/base/audio/sample-rate.ts";
import { AppError, errorMessage } from "../../../src/base/errors.ts";
import type { SherpaSettings } from "../engine-schemas.ts";
import { joined } from "../open-utterance.ts";
import type { Hypothesis, RecognisedWord, Recogniser } from "../recogniser.ts";
import { writtenWords } from "../written-words.ts";
import type { OfflineRecogniser } from "./sherpa-package.ts";
import { tokenWords } from "./token-words.ts";

const FULL_SCALE = 32_768;

interface Decoding {
  words?: RecognisedWord[];
  error?: AppError;
}

/** Models that read a whole utterance at once, on a thread of the native library. */
export class SherpaOfflineRecogniser implements Recogniser {
  readonly engine: string;
  readonly engineVersion: string;
  readonly #model: OfflineRecogniser;
  #language: string;
  #position = 0;
  #blocks: Int16Array[] = [];
  #decoding: Decoding | undefined;
  #onNews: (() => void) | undefined;

  constructor({ name, type, languages }: SherpaSettings, model: OfflineRecogniser) {
    this.engine = name;
    this.engineVersion = `sherpa-onnx ${type}`;
    this.#model = model;
    this.#language = languages[0] ?? "en";
  }

  /** These models take no vocabulary here. */
  useVocabulary(): void {}

  useLanguage(language: string): void {
    this.#language = language;
  }

  start(position: number): void {
    this.discard();
    this.#position = position;
  }

  feed(pcm: Int16Array): void {
    if (pcm.length > 0) this.#blocks.push(pcm);
  }

  hypothesis(): Hypothesis {
    return { words: [] };
  }

  truncate(samples: number): void {
    this.#blocks = [joined(this.#blocks).slice(0, samples)];
  }

  settle(): boolean {
    this.#decoding ??= this.#decode();
    return this.#decoding.words !== undefined || this.#decoding.error !== undefined;
  }

  onNews(listener: (() => void) | undefined): void {
    this.#onNews = listener;
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

  close(): void {
    this.discard();
  }

  #decode(): Decoding {
    const decoding: Decoding = {};
    const pcm = joined(this.#blocks);
    const [start, end] = [this.#position, this.#position + pcm.length];
    const stream = this.#model.createStream();
    const samples = Float32Array.from(pcm, (sample) => sample / FULL_SCALE);
    stream.acceptWaveform({ samples, sampleRate: SESSION_RATE });
    const tell = (outcome: Decoding): void => {
      Object.assign(decoding, outcome);
      if (this.#decoding === decoding) this.#onNews?.();
    };
    this.#model.decodeAsync(stream).then(
      (result) => {
        const words = tokenWords(result, result.text.trim(), start, end);
        tell({ words: writtenWords(words, this.#language) });
      },
      (error: unknown) => tell({ error: new AppError("internal", errorMessage(error)) }),
    );
    return decoding;
  }
}
