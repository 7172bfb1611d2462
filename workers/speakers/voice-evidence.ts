import { CEPSTRA } from "./mel-cepstrum.ts";
import { SPEECH_COVARIANCE } from "./speech-covariance.ts";
import { PAIRS, type VoiceStatistics } from "./voice-statistics.ts";

/** What one frame counts, since neighbouring frames are alike. */
const FRAME_WEIGHT = 0.4;
/** Observations that the prior mean (that of the session) is worth. */
const MEAN_WEIGHT = 1;
/** Observations that the prior covariance (that of speech) is worth, and the degrees of freedom. */
const COVARIANCE_WEIGHT = 40;
const FREEDOM = COVARIANCE_WEIGHT + CEPSTRA;
/** A voice changes over the minutes: more than 10 s of speech does not make it any surer. */
const MOST_FRAMES = 250;

const SCRATCH = new Float64Array(PAIRS);
const PRIOR = evidenceOfPrior();
const GAMMAS: (number | undefined)[] = [];

/**
 * How much likelier two stretches of speech are from two voices than from one: the logarithm of the
 * Bayes factor, 0 when both are as likely. Each voice is a Gaussian with full covariance whose
 * parameters are integrated out under a normal inverse Wishart prior (Murphy 2007, "Conjugate
 * Bayesian analysis of the Gaussian distribution", section 9), so that short stretches are judged
 * with due doubt and no threshold is needed. `centre` is all speech of the session.
 */
export function separation(
  a: VoiceStatistics,
  b: VoiceStatistics,
  centre: VoiceStatistics,
): number {
  if (a.count === 0 || b.count === 0) return 0;
  return separationOf(
    { voice: a, evidence: evidence(a, centre) },
    { voice: b, evidence: evidence(b, centre) },
    centre,
  );
}

/** The same for voices whose evidence is known. */
export function separationOf(a: WeighedVoice, b: WeighedVoice, centre: VoiceStatistics): number {
  const joined = a.voice.capped(MOST_FRAMES).plus(b.voice.capped(MOST_FRAMES));
  return a.evidence + b.evidence - PRIOR - marginal(joined, centre);
}

interface WeighedVoice {
  voice: VoiceStatistics;
  evidence: number;
}

/** Evidence of one voice: the log marginal likelihood of its frames, of 10 s of them at most. */
export function evidence(voice: VoiceStatistics, centre: VoiceStatistics): number {
  return marginal(voice.capped(MOST_FRAMES), centre);
}

/** Log marginal likelihood of the frames, but for what cancels in a comparison. */
function marginal(voice: VoiceStatistics, centre: VoiceStatistics): number {
  const n = FRAME_WEIGHT * voice.count;
  const pull = (MEAN_WEIGHT * n) / (MEAN_WEIGHT + n);
  const p = SCRATCH;
  for (let i = 0, at = 0; i < CEPSTRA; i++) {
    const sum = voice.sums[i] ?? 0;
    const off = pull * (sum / voice.count - (centre.sums[i] ?? 0) / centre.count);
    for (let j = 0; j <= i; j++, at++) {
      const mean = (voice.sums[j] ?? 0) / voice.count;
      p[at] =
        COVARIANCE_WEIGHT * (SPEECH_COVARIANCE[at] ?? 0) +
        FRAME_WEIGHT * ((voice.products[at] ?? 0) - sum * mean) +
        off * (mean - (centre.sums[j] ?? 0) / centre.count);
    }
  }
  const spread = (-(FREEDOM + n) / 2) * logDeterminant(p);
  const certainty = (-CEPSTRA / 2) * Math.log((MEAN_WEIGHT + n) / MEAN_WEIGHT);
  return logGammaOf(voice.count) + spread + certainty;
}

function evidenceOfPrior(): number {
  const p = SPEECH_COVARIANCE.map((covariance) => COVARIANCE_WEIGHT * covariance);
  return logMultivariateGamma(FREEDOM / 2) - (FREEDOM / 2) * logDeterminant(p);
}

/** Log determinant of a symmetric matrix (lower triangle), which is lost in the decomposition. */
function logDeterminant(l: Float64Array): number {
  let log = 0;
  for (let i = 0, row = 0; i < CEPSTRA; row += ++i) {
    for (let j = 0, column = 0; j <= i; column += ++j) {
      let rest = l[row + j] ?? 0;
      for (let k = 0; k < j; k++) rest -= (l[row + k] ?? 0) * (l[column + k] ?? 0);
      if (i === j) {
        const diagonal = Math.max(rest, 1e-9);
        l[row + i] = Math.sqrt(diagonal);
        log += Math.log(diagonal);
      } else l[row + j] = rest / (l[column + j] ?? 1);
    }
  }
  return log;
}

/** The part that depends on the frame count alone, remembered: counts are small integers. */
function logGammaOf(count: number): number {
  const known = GAMMAS[count];
  if (known !== undefined) return known;
  const value = logMultivariateGamma((FREEDOM + FRAME_WEIGHT * count) / 2);
  GAMMAS[count] = value;
  return value;
}

function logMultivariateGamma(x: number): number {
  let sum = 0;
  for (let j = 0; j < CEPSTRA; j++) sum += logGamma(x - j / 2);
  return sum;
}

/** Stirling's series, after raising the argument above 10. */
function logGamma(x: number): number {
  let shift = 0;
  while (x < 10) shift += Math.log(x++);
  const inverse = 1 / (x * x);
  const series = (1 / 12 - inverse * (1 / 360 - inverse / 1260)) / x;
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + series - shift;
}
