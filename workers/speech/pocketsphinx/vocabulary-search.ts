import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "../../../src/base/errors.ts";
import { type DecoderParts, locateParts } from "./decoder-parts.ts";
import type { NativeLibrary, NativePointer } from "./native-library.ts";
import { pronounce } from "./pronounce.ts";
import {
  LONGEST_PHRASE,
  MOST_WORDS,
  phraseWords,
  RARE_BELOW,
  vocabularyModel,
} from "./vocabulary-model.ts";

const SEARCH = "vocabulary";
/** `NGRAM_ARPA` of sphinxbase. */
const ARPA = 1;

/**
 * The vocabulary of the session that uses a decoder: a search of its own beside the decoder's, with
 * the large language model and one of the vocabulary's words, of which the likelier counts. Making
 * it takes about 0.4 s on another thread and 50 MB, dropping it 10 ms.
 *
 * Words that the engine's dictionary lacks are added to it and stay there, at most `MOST_WORDS` in
 * a decoder's life; no other session can be heard to say them, as no other search's language model
 * knows them.
 */
export class VocabularySearch {
  readonly #native: NativeLibrary;
  readonly #config: NativePointer;
  readonly #decoder: NativePointer;
  readonly #plainSearch: string;
  #parts: DecoderParts | undefined;
  #added = 0;
  #isUsed = false;

  constructor(native: NativeLibrary, config: NativePointer, decoder: NativePointer) {
    this.#native = native;
    this.#config = config;
    this.#decoder = decoder;
    this.#plainSearch = native.decoderSearch(decoder);
  }

  /** True when its decoder must not be used for other sessions any more. */
  get isFull(): boolean {
    return this.#added >= MOST_WORDS;
  }

  /** Takes these words and phrases instead of those before. Rejects with AppError `internal`. */
  async use(phrases: readonly string[]): Promise<void> {
    this.drop();
    const known = this.#addWords(phrases);
    if (known.length === 0) return;
    const large = this.#native.languageModel(this.#decoder, this.#plainSearch);
    if (large === null) throw refused("has no language model");
    const text = vocabularyModel(known, (word) => this.#isRare(large, word));
    const small = await this.#read(text);
    let both: NativePointer | null = null;
    try {
      const models = [large, small];
      // Weights of 1 leave each model's probabilities as they are: the likelier one counts.
      const weights = Float32Array.from([1, 1]);
      both = this.#native.interpolate(this.#config, models, ["large", "small"], weights, 2);
      if (both === null) throw refused("does not join language models");
      const failed = await this.#native.addSearch(this.#decoder, SEARCH, both);
      if (failed !== 0) throw refused("makes no search for it");
    } finally {
      // The search holds the models as long as it needs them.
      if (both !== null) this.#native.freeModel(both);
      this.#native.freeModel(small);
    }
    this.#isUsed = true;
    if (this.#native.selectSearch(this.#decoder, SEARCH) !== 0) throw refused("finds no search");
  }

  /** Forgets the words and phrases. Allowed only between utterances. */
  drop(): void {
    if (!this.#isUsed) return;
    this.#isUsed = false;
    this.#native.selectSearch(this.#decoder, this.#plainSearch);
    this.#native.dropSearch(this.#decoder, SEARCH);
  }

  /** The words of each phrase, all of which are in the dictionary now. */
  #addWords(phrases: readonly string[]): string[][] {
    const known: string[][] = [];
    let count = 0;
    for (const phrase of phrases) {
      const words = phraseWords(phrase);
      count += words.length;
      if (count > MOST_WORDS) break;
      if (words.length === 0 || words.length > LONGEST_PHRASE) continue;
      if (words.every(({ word, written }) => this.#isKnown(word, written))) {
        known.push(words.map(({ word }) => word));
      }
    }
    return known;
  }

  #isKnown(word: string, written: string): boolean {
    this.#parts ??= locateParts(this.#native, this.#decoder);
    const { dictionary } = this.#parts;
    if (this.#native.dictionaryWord(dictionary, word) >= 0) return true;
    for (const [place, phones] of pronounce(written).entries()) {
      const entry = place === 0 ? word : `${word}(${place + 1})`;
      if (!this.#add(this.#parts, entry, phones)) break;
    }
    return this.#native.dictionaryWord(dictionary, word) >= 0;
  }

  #add({ dictionary, mapping, definition }: DecoderParts, entry: string, phones: string): boolean {
    const numbers = phones.split(" ").map((phone) => this.#native.phone(definition, phone));
    if (this.isFull || numbers.some((number) => number < 0)) return false;
    const pronunciation = Int16Array.from(numbers);
    const word = this.#native.addDictionaryWord(dictionary, entry, pronunciation, numbers.length);
    if (word < 0) return false;
    this.#added += 1;
    this.#native.mapDictionaryWord(mapping, word);
    return true;
  }

  #isRare(model: NativePointer, word: string): boolean {
    const number = this.#native.modelWord(model, word);
    if (number === this.#native.unknownModelWord(model)) return true;
    const used = new Int32Array(1);
    const log = this.#native.wordProbability(model, number, null, 0, used);
    const probability = this.#native.exponent(this.#native.logMath(this.#decoder), log);
    return Math.log10(probability) < RARE_BELOW;
  }

  async #read(text: string): Promise<NativePointer> {
    const folder = await mkdtemp(join(tmpdir(), "voice-vocabulary-"));
    try {
      const path = join(folder, "words.arpa");
      await writeFile(path, text, { mode: 0o600 });
      const logMath = this.#native.logMath(this.#decoder);
      const model = this.#native.readModel(this.#config, path, ARPA, logMath);
      if (model === null) throw refused("does not read it");
      return model;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
}

function refused(why: string): AppError {
  return new AppError("internal", `pocketsphinx takes no vocabulary: it ${why}`);
}
