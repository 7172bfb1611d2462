import type { AudioChunk, Word } from "../../src/wire/gen/voice/v1/worker.ts";
import { loadNativeLibrary } from "../../workers/speech/pocketsphinx/native-library.ts";
import { PocketsphinxRecogniser } from "../../workers/speech/pocketsphinx/pocketsphinx-recogniser.ts";
import {
  type ConfidenceFeatures,
  confidenceFeatures,
  type WordEvidence,
} from "../../workers/speech/pocketsphinx/word-confidence.ts";
import { RecogniserPool } from "../../workers/speech/recogniser-pool.ts";
import { findSpeechRoot } from "../support/native-packages.ts";
import { chunkMessages, readSession, utterancesOf } from "../support/read-session.ts";
import { normaliseWords } from "./normalise-words.ts";
import { alignWords } from "./word-error-rate.ts";

/** A word of a final, as the service gives it, with what the engine told of it. */
export interface HeardWord extends Word {
  posterior: number;
  features: ConfidenceFeatures;
}

/** A recognised word and whether it was said. */
export interface JudgedWord {
  confidence: number;
  isRight: boolean;
}

/** Reads audio as a worker does, with the shipped recogniser. */
export class WordReader {
  readonly #recognisers: RecogniserPool;
  /** Of the words of the reading in hand, by where they start. */
  readonly #told = new Map<number, Pick<HeardWord, "posterior" | "features">>();

  constructor() {
    const options = { size: 1, waitMs: 1_000, waiters: 1 };
    this.#recognisers = new RecogniserPool(() => this.#load(), options);
  }

  /** The words of all finals but those of which the engine tells no posterior: none has a lattice. */
  async read(chunks: readonly AudioChunk[]): Promise<HeardWord[]> {
    this.#told.clear();
    const messages = await readSession(this.#recognisers, chunkMessages(chunks));
    const words = utterancesOf(messages).flatMap(({ segments }) =>
      segments.flatMap((segment) => segment.words),
    );
    return words.flatMap((word) => {
      const told = this.#told.get(word.start);
      return told === undefined ? [] : [{ ...word, ...told }];
    });
  }

  close(): Promise<void> {
    return this.#recognisers.close();
  }

  /** The recogniser, overheard where it asks the engine for what its confidences are made of. */
  async #load(): Promise<PocketsphinxRecogniser> {
    const library = loadNativeLibrary(findSpeechRoot());
    const asked: number[] = [];
    const scores: number[] = [];
    const recogniser = await PocketsphinxRecogniser.load({
      ...library,
      segmentPosterior(segment, acoustic, language, backOff) {
        const log = library.segmentPosterior(segment, acoustic, language, backOff);
        scores.push(language[0] ?? 0);
        return log;
      },
      exponent(logMath, value) {
        const posterior = library.exponent(logMath, value);
        asked.push(Math.min(1, posterior));
        return posterior;
      },
    });
    const finish = recogniser.finish.bind(recogniser);
    recogniser.finish = () => {
      const words = finish();
      const posteriors = asked.splice(0);
      const evidence = scores.splice(0).map((language, place): WordEvidence => {
        return { posterior: posteriors[place] ?? 0, language };
      });
      const features = confidenceFeatures(evidence);
      for (const [place, { start }] of words.entries()) {
        const [own, posterior] = [features[place], posteriors[place]];
        if (own && posterior !== undefined) this.#told.set(start, { posterior, features: own });
      }
      return words;
    };
    return recogniser;
  }
}

/** Each word with whether it was said, by alignment after the same normalisation of both. */
export function judgeWords<W extends { text: string }>(
  reference: readonly string[],
  words: readonly W[],
): (W & { isRight: boolean })[] {
  const parts = words.flatMap(({ text }, place) =>
    normaliseWords(text).map((part) => ({ part, place })),
  );
  const aligned = alignWords(
    reference,
    parts.map(({ part }) => part),
  );
  const wrong = new Set(
    aligned.flatMap((each) =>
      each.kind === "substitution" || each.kind === "insertion"
        ? [parts[each.hypothesis]?.place]
        : [],
    ),
  );
  return words.map((word, place) => ({ ...word, isRight: !wrong.has(place) }));
}
