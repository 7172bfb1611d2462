import { SESSION_RATE } from "../../../src/base/audio/sample-rate.ts";
import type { SherpaSettings } from "../engine-settings.ts";
import type { RecognisedWord, Recogniser } from "../recogniser.ts";
import { punctuated, type SharedModel } from "./offline-recogniser.ts";
import type { OnlineRecogniser, OnlineStream } from "./sherpa-package.ts";
import { tokenWords } from "./token-words.ts";

const FULL_SCALE = 32_768;
const NO_STATE = new Uint8Array(0);
/** A streaming model looks ahead: silence behind the utterance lets its last word out. */
const TAIL = new Float32Array(0.5 * SESSION_RATE);

/** Models that read while somebody speaks, on the calling thread. */
export class SherpaOnlineRecogniser implements Recogniser {
  readonly engine: string;
  readonly engineVersion: string;
  readonly knowsNoise = true;
  readonly #model: SharedModel<OnlineRecogniser>;
  #position = 0;
  #samples = 0;
  #stream: OnlineStream | undefined;

  constructor({ name, type }: SherpaSettings, model: SharedModel<OnlineRecogniser>) {
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
    this.#position = position;
    this.#samples = 0;
    this.#stream = this.#model.recogniser.createStream();
  }

  feed(pcm: Int16Array): void {
    if (pcm.length === 0) return;
    this.#samples += pcm.length;
    this.#read(Float32Array.from(pcm, (sample) => sample / FULL_SCALE));
  }

  hypothesis(): RecognisedWord[] {
    if (this.#stream === undefined) return [];
    const result = this.#model.recogniser.getResult(this.#stream);
    return tokenWords(result, result.text.trim(), this.#position, this.#position + this.#samples);
  }

  finish(): RecognisedWord[] {
    const stream = this.#stream;
    if (stream === undefined) return [];
    this.#read(TAIL);
    stream.inputFinished();
    this.#decode(stream);
    const { recogniser, punctuation } = this.#model;
    const result = recogniser.getResult(stream);
    this.#stream = undefined;
    const text = punctuated(result.text, punctuation);
    return tokenWords(result, text, this.#position, this.#position + this.#samples);
  }

  discard(): void {
    this.#stream = undefined;
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

  #read(samples: Float32Array): void {
    const stream = this.#stream;
    if (stream === undefined) return;
    stream.acceptWaveform({ samples, sampleRate: SESSION_RATE });
    this.#decode(stream);
  }

  #decode(stream: OnlineStream): void {
    const { recogniser } = this.#model;
    while (recogniser.isReady(stream)) recogniser.decode(stream);
  }
}
