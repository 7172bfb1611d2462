import { CEPSTRA } from "./mel-cepstrum.ts";
import { PAIRS, type VoiceStatistics } from "./voice-statistics.ts";

/**
 * Covariance of c1 to c19 within the speech of one voice, lower triangle row after row: the mean of
 * five voices, four synthetic ones (flite's slt, rms, awb and kal16) and one public-domain reading.
 * It describes how coefficients vary together in any speech, not how a particular voice sounds.
 */
// biome-ignore format: one row of the triangle a line
const SPEECH_COVARIANCE = Float64Array.of(
  90.3,
  -0.0845, 15.3,
  -7.21, 3.39, 16,
  0.606, -0.553, 4.18, 9.01,
  -4.3, 0.203, -3.5, -0.687, 4.72,
  2.79, 0.907, -2.26, -2.87, 0.146, 4.04,
  -2.93, 0.35, 0.0309, -0.891, -0.466, 0.412, 3.14,
  -3.04, -1.84, 0.514, 0.188, 0.179, -1.06, -0.198, 2.35,
  0.886, -1.84, -2.48, -0.721, 0.486, 0.237, -0.324, 0.16, 2.25,
  1.24, -0.271, -0.919, -0.197, 0.257, 0.0549, -0.333, -0.455, 0.251, 1.64,
  1.7, 0.04, 0.174, 0.0459, -0.413, 0.0965, -0.0923, -0.172, -0.35, -0.166, 0.94,
  -1.06, 0.809, 0.0188, 0.00396, -0.137, -0.0639, -0.0247, -0.113, -0.191, -0.116, -0.0668, 1,
  -0.932, 0.577, 0.738, 0.26, -0.0234, -0.434, -0.229, 0.0831, -0.062, -0.0775, -0.181, 0.0625, 0.859,
  -0.748, -0.106, 0.12, -0.0243, -0.0748, -0.157, -0.0667, -0.0165, -0.111, -0.143, 0.121, -0.201, -0.0463, 0.872,
  -0.13, 0.172, -0.084, 0.03, 0.0927, 0.254, 0.151, -0.0765, -0.213, -0.0645, -0.0354, 0.102, -0.0987, -0.219, 0.663,
  -0.818, -0.18, 0.0812, 0.0576, 0.144, -0.203, 0.0204, 0.0191, 0.00684, -0.209, 0.0218, -0.000104, 0.072, 0.0179, -0.104, 0.498,
  -0.532, -0.141, -0.00541, -0.207, 0.0201, 0.157, 0.165, 0.0309, 0.0834, 0.0904, -0.0836, -0.0098, -0.0549, 0.0132, -0.025, -0.102, 0.43,
  -0.355, -0.0528, 0.0144, 0.0523, 0.102, 0.0348, 0.0459, 0.0276, -0.0233, -0.0227, 0.0495, -0.0486, -0.00787, -0.0383, 0.0974, -0.0428, -0.0448, 0.313,
  -0.255, -0.0746, -0.141, -0.0483, -0.0579, 0.105, 0.059, -0.0562, 0.0448, 0.0198, -0.018, 0.0147, -0.0403, 0.0349, -0.0673, 0.0858, -0.0345, -0.0405, 0.302,
);

/** Weight of one frame; below 1, because neighbouring frames are alike. */
const FRAME_WEIGHT = 0.4;
/** Weight of the prior mean (that of the session), in observations. */
const MEAN_WEIGHT = 1;
/** Weight of the prior covariance (that of speech), in observations, and the degrees of freedom. */
const COVARIANCE_WEIGHT = 40;
const FREEDOM = COVARIANCE_WEIGHT + CEPSTRA;
/** A voice changes over minutes, so more than 10 s of speech adds no certainty. */
const MOST_FRAMES = 250;

const SCRATCH = new Float64Array(PAIRS);
const PRIOR = evidenceOfPrior();
const GAMMAS: (number | undefined)[] = [];

/**
 * How much likelier two stretches of speech come from two voices than from one: the logarithm of
 * the Bayes factor, 0 when both are equally likely. Each voice is a Gaussian with full covariance
 * whose parameters are integrated out under a normal inverse Wishart prior (Murphy 2007, "Conjugate
 * Bayesian analysis of the Gaussian distribution", section 9). This accounts for the uncertainty of
 * short stretches and needs no threshold. `centre` is all speech of the session.
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

/** Like `separation`, for voices whose evidence is known. */
export function separationOf(a: WeighedVoice, b: WeighedVoice, centre: VoiceStatistics): number {
  const joined = a.voice.capped(MOST_FRAMES).plus(b.voice.capped(MOST_FRAMES));
  return a.evidence + b.evidence - PRIOR - marginal(joined, centre);
}

interface WeighedVoice {
  voice: VoiceStatistics;
  evidence: number;
}

/** Evidence of one voice: the log marginal likelihood of its frames, at most 10 s of them. */
export function evidence(voice: VoiceStatistics, centre: VoiceStatistics): number {
  return marginal(voice.capped(MOST_FRAMES), centre);
}

/** Log marginal likelihood of the frames, without terms that cancel in a comparison. */
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

/**
 * Log determinant of a symmetric matrix (lower triangle). The decomposition overwrites the matrix.
 */
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

/** The part that depends only on the frame count, cached because counts are small integers. */
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
