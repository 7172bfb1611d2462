/** What the engine tells of a word of an utterance. */
export interface WordEvidence {
  /** Of the word in the lattice, 0..1. */
  posterior: number;
  /** How likely it is after the words before it: a logarithm in the engine's units. */
  language: number;
}

/** Numbers in which right and wrong words differ; they are added up with their weights. */
export type ConfidenceFeatures = readonly [posterior: number, utterance: number, language: number];

/** Posteriors are taken as no surer than this. */
const SUREST = 0.999;
/** Puts the engine's score into the size of the others. */
const SCORE_UNIT = 1_000;

/**
 * A logistic regression on made conversations, clear and degraded, which `npm run eval:confidence`
 * fits again. The posterior alone tells little where all is noise: what the decoder has pruned
 * away cannot contradict it. The engine's acoustic score would help a little more, but depends on
 * what the decoder read before: a reading that is taken over would give other confidences.
 */
export const CONFIDENCE_WEIGHTS = {
  constant: -2.3829,
  features: [0.1592, 5.4805, 3.4692],
} as const satisfies { constant: number; features: ConfidenceFeatures };

/**
 * The highest floor, in hundredths, below which lay no more than 5 % of the right words of clear
 * speech in the half that the weights were fitted on.
 */
export const CONFIDENCE_FLOOR = 0.49;

/** The chance, 0..1, that each word of an utterance was said. */
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
