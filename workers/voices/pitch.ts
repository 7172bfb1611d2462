const RATE = 16_000;
/** Samples of one look: 40 ms, two periods of the lowest pitch and more. */
const WINDOW = 640;
const LOWEST_HZ = 60;
const HIGHEST_HZ = 400;
const SHORTEST = Math.floor(RATE / HIGHEST_HZ);
const LONGEST = Math.ceil(RATE / LOWEST_HZ);
/** Samples from an offset on that `pitchOf` looks at. */
export const PITCH_SAMPLES = WINDOW + LONGEST;
/** Every second sample is enough for lags of whole samples. */
const STRIDE = 2;
/** Normalised autocorrelation from which sound counts as voiced. */
const VOICED = 0.6;
/** The shortest lag whose peak is nearly the highest one: longer ones are its multiples. */
const NEARLY = 0.85;

/**
 * The pitch in Hz of the 40 ms of samples at `offset`, by the normalised autocorrelation; undefined
 * where they are not voiced, or fewer.
 */
export function pitchOf(pcm: Int16Array, offset: number): number | undefined {
  if (offset + PITCH_SAMPLES > pcm.length) return undefined;
  const scores = new Float64Array(LONGEST - SHORTEST + 1);
  let highest = 0;
  for (let lag = SHORTEST; lag <= LONGEST; lag++) {
    const score = likeness(pcm, offset, lag);
    scores[lag - SHORTEST] = score;
    highest = Math.max(highest, score);
  }
  if (highest < VOICED) return undefined;
  for (let n = 1; n + 1 < scores.length; n++) {
    const score = scores[n] ?? 0;
    const isPeak = score >= (scores[n - 1] ?? 0) && score > (scores[n + 1] ?? 0);
    if (isPeak && score >= NEARLY * highest) return RATE / (n + SHORTEST);
  }
  return undefined;
}

function likeness(pcm: Int16Array, offset: number, lag: number): number {
  let both = 0;
  let here = 1;
  let there = 1;
  for (let i = offset; i < offset + WINDOW; i += STRIDE) {
    const a = pcm[i] ?? 0;
    const b = pcm[i + lag] ?? 0;
    both += a * b;
    here += a * a;
    there += b * b;
  }
  return both / Math.sqrt(here * there);
}
