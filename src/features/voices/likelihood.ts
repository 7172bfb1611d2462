/** Chance, before anything was heard, that a voice is that of somebody remembered. */
const ANYBODY_REMEMBERED = 0.5;
/**
 * Likelihood from which a voice is suggested: `npm run eval:voices` measures what it gives. Below
 * it nobody is named.
 */
export const SUGGESTED_FROM = 0.9;

/**
 * Likelihoods, 0..1, that a voice is that of each remembered person, from the logarithms of the
 * likelihood ratios with their prints. They sum up to 1 with that of its being nobody's: where many
 * are remembered, more evidence is needed.
 */
export function likelihoodsOf(logRatios: readonly number[]): number[] {
  const prior = ANYBODY_REMEMBERED / Math.max(1, logRatios.length);
  const weights = logRatios.map((each) => prior * Math.exp(Math.min(each, 50)));
  const total = weights.reduce((sum, each) => sum + each, 1 - ANYBODY_REMEMBERED);
  return weights.map((each) => each / total);
}
