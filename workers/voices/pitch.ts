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
  const here = energy(pcm, offset);
  // Of even and of odd lags: from one lag to the next but one the window moves by one sample of
  // those that are looked at. All sums are whole numbers below 2^53, so nothing is rounded.
  const there = [energy(pcm, offset + SHORTEST), energy(pcm, offset + SHORTEST + 1)];
  let highest = 0;
  for (let lag = SHORTEST; lag <= LONGEST; lag++) {
    const at = (lag - SHORTEST) % STRIDE;
    const moved = there[at] ?? 1;
    const score = product(pcm, offset, lag) / Math.sqrt(here * moved);
    const [left, entered] = [pcm[offset + lag] ?? 0, pcm[offset + lag + WINDOW] ?? 0];
    there[at] = moved - left * left + entered * entered;
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

/** Sum of the squares of every second sample of a look, and 1, so that it is never 0. */
function energy(pcm: Int16Array, from: number): number {
  let sum = 1;
  for (let i = from; i < from + WINDOW; i += STRIDE) {
    const sample = pcm[i] ?? 0;
    sum += sample * sample;
  }
  return sum;
}

function product(pcm: Int16Array, offset: number, lag: number): number {
  let both = 0;
  for (let i = offset; i < offset + WINDOW; i += STRIDE)
    both += (pcm[i] ?? 0) * (pcm[i + lag] ?? 0);
  return both;
}
