import { POCKETSPHINX } from "../../../src/wire/speech-engines.ts";

/** The engine's scores of one word of an utterance. */
export interface WordEvidence {
  /** Posterior of the word in the lattice, 0..1. */
  posterior: number;
  /**
   * Language score: how likely the word is after the words before it, as a logarithm in the
   * engine's units.
   */
  language: number;
}

/** Values in which right and wrong words differ; confidence uses their weighted sum. */
export type ConfidenceFeatures = readonly [posterior: number, utterance: number, language: number];

/** Upper bound of posteriors. */
const SUREST = 0.999;
/** Scales the engine's score to the range of the other features. */
const SCORE_UNIT = 1_000;

/**
 * Weights of a logistic regression, fitted on synthetic conversations, clear and degraded, of which the
 * clear one weighs as much as all others; `npm run eval:confidence` fits them again. The posterior alone says little in noise, because words that
 * the decoder has pruned cannot contradict it. The engine's acoustic score would help a little
 * more, but depends on earlier audio: a reading that is taken over would give other confidences.
 */
export const CONFIDENCE_WEIGHTS = {
  constant: -2.4857,
  features: [0.2654, 6.0475, 3.3226],
} as const satisfies { constant: number; features: ConfidenceFeatures };

/** Words of less confidence are unclear. */
export const CONFIDENCE_FLOOR = POCKETSPHINX.confidenceFloor;

/** The probability, 0..1, that each word of an utterance was said. */
export function wordConfidences(words: readonly WordEvidence[]): number[] {
  const { constant, features: weights } = CONFIDENCE_WEIGHTS;
  return confidenceFeatures(words).map((features) => {
    const sum = features.reduce((total, value, at) => total + (weights[at] ?? 0) * value, constant);
    return 1 / (1 + Math.exp(-sum));
  });
}

export function confidenceFeatures(words: readonly WordEvidence[]): ConfidenceFeatures[] {
  const total = words.reduce((sum, { posterior }) => sum + posterior, 0);
  const utterance = total / Math.max(1, words.length);
  return words.map(({ posterior, language }) => [
    logOdds(posterior),
    utterance,
    language / SCORE_UNIT,
  ]);
}

function logOdds(posterior: number): number {
  const sure = Math.max(1 - SUREST, Math.min(SUREST, posterior));
  return Math.log(sure / (1 - sure));
}
