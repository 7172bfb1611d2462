/** What the engine tells of a word of an utterance. */
export interface WordEvidence {
  /** Of the word in the lattice, 0..1. */
  posterior: number;
  /** How the word sounds, and how it follows the words before it: logarithms in the engine's units. */
  acoustic: number;
  language: number;
  /** Its length in frames. */
  frames: number;
}

/** Numbers in which right and wrong words differ; they are added up with their weights. */
export type ConfidenceFeatures = readonly [
  posterior: number,
  utterance: number,
  language: number,
  acoustic: number,
];

/** Posteriors are taken as no surer than this. */
const SUREST = 0.999;
/** Puts the engine's scores into the size of the others. */
const SCORE_UNIT = 1_000;

/**
 * A logistic regression on made conversations, clear and degraded, which `npm run eval:confidence`
 * fits again. The posterior alone tells little where all is noise: what the decoder has pruned
 * away cannot contradict it.
 */
export const CONFIDENCE_WEIGHTS = {
  constant: 0.3105,
  features: [0.1337, 4.843, 4.0729, 0.0451],
} as const satisfies { constant: number; features: ConfidenceFeatures };

/**
 * Below it a word is likelier wrong than right. Of the right words of clear speech less than 5 %
 * lay there in the half that the weights were fitted on.
 */
export const CONFIDENCE_FLOOR = 0.5;

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
  return words.map(({ posterior, acoustic, language, frames }) => [
    logOdds(posterior),
    utterance,
    language / SCORE_UNIT,
    acoustic / Math.max(1, frames) / SCORE_UNIT,
  ]);
}

function logOdds(posterior: number): number {
  const sure = Math.max(1 - SUREST, Math.min(SUREST, posterior));
  return Math.log(sure / (1 - sure));
}
