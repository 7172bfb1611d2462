import { join } from "node:path";
import { SESSION_RATE } from "../../../src/base/audio/sample-rate.ts";
import { AppError } from "../../../src/base/errors.ts";
import { POCKETSPHINX } from "../../../src/wire/speech-engines.ts";
import type { RecognisedWord, Recogniser } from "../recogniser.ts";
import {
  ChannelMean,
  isAdapted,
  readCepstralMean,
  startCepstralMean,
  writeCepstralMean,
} from "./cepstral-mean.ts";
import type { NativeLibrary, NativePointer } from "./native-library.ts";
import { VocabularySearch } from "./vocabulary-search.ts";
import { CONFIDENCE_FLOOR, type WordEvidence, wordConfidences } from "./word-confidence.ts";

/**
 * Settings of the decoder, in the form of `pocketsphinx_continuous`, so that the bare engine can be
 * run with the same ones for comparison. Without the second pass (`-fwdflat no`) fewer words are
 * wrong at these beams, and a final comes 100 to 200 ms sooner.
 */
export const ENGINE_SETTINGS: readonly string[] = [
  "-maxhmmpf",
  "3000",
  "-maxwpf",
  "5",
  "-topn",
  "2",
  "-pl_window",
  "5",
  "-fwdflat",
  "no",
];

/**
 * Endpoints are found before the engine, so its own removal of silence is disabled: every frame is
 * decoded, and a frame's number is its time. The bare engine needs its removal to find ends, so
 * this is not part of ENGINE_SETTINGS.
 */
const FRONT_END_SETTINGS: readonly string[] = ["-remove_silence", "no"];

/** Frames per second of the engine's front end (`-frate`). */
const FRAME_RATE = 100;

const SAMPLES_PER_FRAME = SESSION_RATE / FRAME_RATE;

/**
 * PocketSphinx 5prealpha with its US English model.
 *
 * Only the cepstral mean is kept between utterances: the noise estimate of the front end is reset
 * with each utterance (`ps_start_stream`), which also gave fewer wrong words than keeping it. A
 * word's confidence is the probability that it was said, from its posterior in the word lattice,
 * its language score and the posteriors of its utterance. It needs about 95 MB and 0.5 s to load.
 */
export class PocketsphinxRecogniser implements Recogniser {
  readonly engine = POCKETSPHINX.name;
  readonly engineVersion = "0.8+5prealpha en-us-ptm";
  readonly confidenceFloor = CONFIDENCE_FLOOR;
  readonly #native: NativeLibrary;
  readonly #config: NativePointer;
  readonly #decoder: NativePointer;
  readonly #logMath: NativePointer;
  readonly #initialState: Uint8Array;
  readonly #channelMean: ChannelMean;
  readonly #vocabulary: VocabularySearch;
  #position = 0;
  #running = false;
  #closed = false;

  /**
   * Loads the model without blocking the thread. Rejects with AppError `unavailable` when it cannot
   * be loaded.
   */
  static async load(native: NativeLibrary): Promise<PocketsphinxRecogniser> {
    const values = commandLine(native.modelFolder);
    const config = native.parseArguments(null, native.psArgs(), values.length, values, 1);
    const decoder = config === null ? null : await native.init(config);
    if (decoder !== null) return new PocketsphinxRecogniser(native, config, decoder);
    throw new AppError("unavailable", `pocketsphinx refused its model in ${native.modelFolder}`);
  }

  private constructor(native: NativeLibrary, config: NativePointer, decoder: NativePointer) {
    this.#native = native;
    this.#config = config;
    this.#decoder = decoder;
    this.#logMath = native.logMath(decoder);
    this.#initialState = this.state();
    this.#channelMean = new ChannelMean(native, config);
    this.#vocabulary = new VocabularySearch(native, config, decoder);
  }

  useVocabulary(phrases: readonly string[]): Promise<void> {
    return this.#vocabulary.use(phrases);
  }

  dropVocabulary(): void {
    this.#vocabulary.drop();
  }

  isWornOut(): boolean {
    return this.#vocabulary.isFull;
  }

  isAdapted(): boolean {
    return isAdapted(this.#native.features(this.#decoder));
  }

  calibrate(pcm: Int16Array): void {
    const mean = this.#channelMean.of(pcm);
    if (mean !== undefined) startCepstralMean(this.#native.features(this.#decoder), mean);
  }

  start(position: number): void {
    this.#check(this.#native.startStream(this.#decoder), "ps_start_stream");
    this.#check(this.#native.startUtterance(this.#decoder), "ps_start_utt");
    this.#position = position;
    this.#running = true;
  }

  feed(pcm: Int16Array): void {
    if (pcm.length === 0) return;
    this.#check(this.#native.processRaw(this.#decoder, pcm, pcm.length, 0, 0), "ps_process_raw");
  }

  hypothesis(): RecognisedWord[] {
    return this.#words();
  }

  finish(): RecognisedWord[] {
    const heard = this.#words();
    this.#end();
    const evidence: WordEvidence[] = [];
    const words = this.#words((segment) => {
      evidence.push(this.#evidence(segment));
    });
    // Audio that ends where no word can end gives no lattice; its words were heard all the same.
    if (words.length === 0) return heard.map((word) => ({ ...word, confidence: CONFIDENCE_FLOOR }));
    const confidences = wordConfidences(evidence);
    return words.map((word, place) => ({ ...word, confidence: confidences[place] ?? 0 }));
  }

  discard(): void {
    if (this.#running) this.#end();
  }

  state(): Uint8Array {
    return readCepstralMean(this.#native.features(this.#decoder));
  }

  restore(state: Uint8Array = this.#initialState): void {
    this.discard();
    writeCepstralMean(this.#native.features(this.#decoder), state);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#channelMean.close();
    this.#native.free(this.#decoder);
    this.#native.freeArguments(this.#config);
  }

  #end(): void {
    this.#running = false;
    this.#check(this.#native.endUtterance(this.#decoder), "ps_end_utt");
  }

  #evidence(segment: NativePointer): WordEvidence {
    const acoustic = new Int32Array(1);
    const language = new Int32Array(1);
    const backOff = new Int32Array(1);
    const log = this.#native.segmentPosterior(segment, acoustic, language, backOff);
    return {
      posterior: Math.min(1, this.#native.exponent(this.#logMath, log)),
      language: language[0] ?? 0,
    };
  }

  /** The words so far; `tell` is called with the segment of each. */
  #words(tell?: (segment: NativePointer) => void): RecognisedWord[] {
    const words: RecognisedWord[] = [];
    const first = new Int32Array(1);
    const last = new Int32Array(1);
    let segment = this.#native.segments(this.#decoder);
    for (; segment !== null; segment = this.#native.nextSegment(segment)) {
      const text = cleanWord(this.#native.segmentWord(segment));
      if (text === undefined) continue;
      this.#native.segmentFrames(segment, first, last);
      const start = this.#position + (first[0] ?? 0) * SAMPLES_PER_FRAME;
      const end = this.#position + ((last[0] ?? 0) + 1) * SAMPLES_PER_FRAME;
      words.push({ text, start, end, confidence: 0 });
      tell?.(segment);
    }
    return words;
  }

  #check(result: number, call: string): void {
    if (result < 0) throw new AppError("internal", `${call} failed`);
  }
}

/**
 * The decoder's arguments, without `-logfn`: that option replaces a file of the whole process and
 * closes the previous one, which two threads that create recognisers at once would both close.
 */
function commandLine(modelFolder: string): string[] {
  const model = ["-hmm", join(modelFolder, "en-us"), "-lm", join(modelFolder, "en-us.lm.bin")];
  const dictionary = ["-dict", join(modelFolder, "cmudict-en-us.dict")];
  return ["pocketsphinx", ...model, ...dictionary, ...ENGINE_SETTINGS, ...FRONT_END_SETTINGS];
}

/**
 * The word in its usual spelling: `to` for `to(2)`, an alternative pronunciation; undefined for
 * tokens that are not words: `<s>`, `</s>`, `<sil>`, `[NOISE]`, `++UH++`.
 */
export function cleanWord(token: string): string | undefined {
  if (token === "" || /^[<[+]/.test(token)) return undefined;
  return token.replace(/\(\d+\)$/, "");
}
