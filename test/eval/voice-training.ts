import type { Gaussians } from "../../workers/voices/gaussians.ts";
import { GaussianScorer } from "../../workers/voices/gaussians.ts";
import { FRAME_SIZE, type VoiceFrames, voiceFrames } from "../../workers/voices/voice-frames.ts";
import type { VoiceModel } from "../../workers/voices/voice-model.ts";
import {
  offsetsOf,
  PrintComparer,
  toUnitLength,
  type VoicePrint,
} from "../../workers/voices/voice-print.ts";
import { type Example, fitLogistic } from "./logistic-regression.ts";
import { seededRandom } from "./made-conversation.ts";
import { eachCondition, inCondition, type VoiceSample } from "./voice-material.ts";

const GAUSSIANS = 64;
const ROUNDS = 8;
const ROUNDS_BETWEEN = 4;
const AXES = 24;
/** Variances are at least this share of those of all frames. */
const FLOOR = 0.05;
/** Of the frames of each voice, the background learns from so many, so that none outweighs others. */
const FRAMES_OF_VOICE = 1_500;
const FOLDS = 2;

/** One half of a voice's speech in one condition. */
interface Heard {
  voice: string;
  half: number;
  frames: VoiceFrames;
}

/** Runs stepwise work to its end. */
export function whole<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/**
 * Estimates a model of voices. Its calibration comes from models that have not seen the voices that
 * they compare: each of two halves of the voices is compared by the model of the other.
 */
export function trainVoices(voices: readonly VoiceSample[]): VoiceModel {
  const heard = voices.flatMap(({ name, halves }, n) =>
    halves.flatMap((pcm, half) =>
      eachCondition((condition) => {
        const frames = whole(voiceFrames(inCondition(pcm, condition, 10 * n + half)));
        return { voice: name, half, frames };
      }),
    ),
  );
  const names = [...new Set(heard.map(({ voice }) => voice))];
  const examples = Array.from({ length: FOLDS }, (_, fold) => {
    const isHere = ({ voice }: Heard) => names.indexOf(voice) % FOLDS === fold;
    const model = modelOf(heard.filter((each) => !isHere(each)));
    return compare(model, heard.filter(isHere));
  }).flat();
  return { ...modelOf(heard), calibration: calibrated(examples) };
}

function modelOf(heard: readonly Heard[]): VoiceModel {
  const background = mixtureOf(heard.map(({ frames }) => frames.rows));
  const offsets = heard.map(({ frames }) => whole(offsetsOf(frames.rows, { background })));
  const centre = meanOf(offsets);
  const prints = offsets.map((each) =>
    toUnitLength(each.map((value, n) => value - (centre[n] ?? 0))),
  );
  const cohortMean = meanOf(prints);
  const cohortAxes = mainAxes(prints.map((each) => each.map((v, n) => v - (cohortMean[n] ?? 0))));
  const calibration = { constant: 0, weight: 1 };
  return { background, centre, cohortMean, cohortAxes, calibration };
}

/** Both halves of each voice, in any two conditions, and all pairs of different voices. */
function compare(model: VoiceModel, heard: readonly Heard[]): Example[] {
  const comparer = new PrintComparer(model);
  const prints = heard.map(({ frames }): VoicePrint => {
    const offsets = whole(offsetsOf(frames.rows, model));
    const centred = offsets.map((value, n) => value - (model.centre[n] ?? 0));
    return { offsets: toUnitLength(centred), pitch: frames.pitch };
  });
  const examples: Example[] = [];
  for (const [i, one] of heard.entries()) {
    for (const [j, other] of heard.entries()) {
      const [a, b] = [prints[i], prints[j]];
      if (j <= i || one.half === other.half || a === undefined || b === undefined) continue;
      examples.push({ values: [comparer.score(a, b)], isYes: one.voice === other.voice });
    }
  }
  return examples;
}

/** The logistic regression's constant holds how many pairs of each kind there were: taken away. */
function calibrated(examples: readonly Example[]): VoiceModel["calibration"] {
  const { constant, weights } = fitLogistic(examples);
  const yes = examples.filter(({ isYes }) => isYes).length;
  const [weight = 0] = weights;
  return { constant: constant - Math.log(yes / (examples.length - yes)), weight };
}

/** Expectation and maximisation from one Gaussian on, the heaviest ones split in turn. */
function mixtureOf(voices: readonly Float32Array[]): Gaussians {
  const rows = thinned(voices);
  const floor = variancesOf(rows, meanOfRows(rows)).map((variance) => FLOOR * variance);
  const random = seededRandom(1);
  let mixture: Gaussians = {
    count: 1,
    logWeights: Float32Array.of(0),
    means: Float32Array.from(meanOfRows(rows)),
    variances: Float32Array.from(variancesOf(rows, meanOfRows(rows))),
  };
  while (mixture.count < GAUSSIANS) {
    mixture = split(mixture, random);
    const rounds = mixture.count === GAUSSIANS ? ROUNDS : ROUNDS_BETWEEN;
    for (let round = 0; round < rounds; round++) mixture = improved(mixture, rows, floor);
  }
  return mixture;
}

function thinned(voices: readonly Float32Array[]): Float32Array {
  const taken = voices.flatMap((rows) => {
    const count = rows.length / FRAME_SIZE;
    const step = Math.max(1, Math.ceil(count / FRAMES_OF_VOICE));
    return Array.from({ length: Math.floor(count / step) }, (_, n) =>
      rows.subarray(n * step * FRAME_SIZE, (n * step + 1) * FRAME_SIZE),
    );
  });
  const all = new Float32Array(taken.length * FRAME_SIZE);
  for (const [n, row] of taken.entries()) all.set(row, n * FRAME_SIZE);
  return all;
}

function meanOfRows(rows: Float32Array): Float64Array {
  const count = rows.length / FRAME_SIZE;
  const mean = new Float64Array(FRAME_SIZE);
  for (const [n, value] of rows.entries()) {
    mean[n % FRAME_SIZE] = (mean[n % FRAME_SIZE] ?? 0) + value / count;
  }
  return mean;
}

function variancesOf(rows: Float32Array, mean: Float64Array): Float64Array {
  const count = rows.length / FRAME_SIZE;
  const sums = new Float64Array(FRAME_SIZE);
  for (const [n, value] of rows.entries()) {
    const c = n % FRAME_SIZE;
    sums[c] = (sums[c] ?? 0) + (value - (mean[c] ?? 0)) ** 2 / count;
  }
  return sums;
}

function split(mixture: Gaussians, random: () => number): Gaussians {
  const count = 2 * mixture.count;
  const twice = (values: Float32Array) => Float32Array.of(...values, ...values);
  const means = twice(mixture.means);
  for (let n = 0; n < mixture.means.length; n++) {
    const step = 0.3 * Math.sqrt(mixture.variances[n] ?? 0) * (random() < 0.5 ? -1 : 1);
    means[n] = (means[n] ?? 0) + step;
    means[mixture.means.length + n] = (means[mixture.means.length + n] ?? 0) - step;
  }
  const logWeights = twice(mixture.logWeights).map((each) => each - Math.LN2);
  return { count, logWeights, means, variances: twice(mixture.variances) };
}

function improved(mixture: Gaussians, rows: Float32Array, floor: Float64Array): Gaussians {
  const { count } = mixture;
  const squares = new Float64Array(count * FRAME_SIZE);
  const { shares, sums } = whole(
    new GaussianScorer(mixture).gather(rows, (row, posteriors) => {
      for (let g = 0; g < count; g++) {
        const share = posteriors[g] ?? 0;
        if (share < 1e-4) continue;
        for (let c = 0, at = g * FRAME_SIZE; c < FRAME_SIZE; c++, at++) {
          squares[at] = (squares[at] ?? 0) + share * (row[c] ?? 0) ** 2;
        }
      }
    }),
  );
  const total = shares.reduce((sum, each) => sum + each, 0);
  const means = Float32Array.from(
    sums,
    (sum, at) => sum / ((shares[Math.floor(at / FRAME_SIZE)] ?? 0) + 1e-6),
  );
  const variances = Float32Array.from(squares, (square, at) => {
    const share = (shares[Math.floor(at / FRAME_SIZE)] ?? 0) + 1e-6;
    return Math.max(floor[at % FRAME_SIZE] ?? 0, square / share - (means[at] ?? 0) ** 2);
  });
  const logWeights = Float32Array.from(shares, (share) => Math.log((share + 1e-6) / total));
  return { count, logWeights, means, variances };
}

function meanOf(vectors: readonly Float32Array[]): Float32Array {
  const mean = new Float32Array(vectors[0]?.length ?? 0);
  for (const vector of vectors) {
    for (const [n, value] of vector.entries()) mean[n] = (mean[n] ?? 0) + value / vectors.length;
  }
  return mean;
}

/** Main axes of centred vectors by power iteration, each as long as the deviation along it. */
function mainAxes(vectors: readonly Float32Array[]): Float32Array[] {
  const left = vectors.map((vector) => Float64Array.from(vector));
  const axes: Float32Array[] = [];
  const inner = (a: Float64Array, b: Float64Array) => {
    let sum = 0;
    for (let n = 0; n < a.length; n++) sum += (a[n] ?? 0) * (b[n] ?? 0);
    return sum;
  };
  for (let axis = 0; axis < AXES; axis++) {
    let direction = Float64Array.from(left[axis % left.length] ?? []);
    for (let round = 0; round < 60; round++) {
      const next = new Float64Array(direction.length);
      for (const vector of left) {
        const share = inner(vector, direction);
        for (let n = 0; n < next.length; n++) next[n] = (next[n] ?? 0) + share * (vector[n] ?? 0);
      }
      const length = Math.sqrt(inner(next, next)) || 1;
      direction = next.map((value) => value / length);
    }
    let square = 0;
    for (const vector of left) {
      const share = inner(vector, direction);
      square += share * share;
      for (let n = 0; n < vector.length; n++) {
        vector[n] = (vector[n] ?? 0) - share * (direction[n] ?? 0);
      }
    }
    const deviation = Math.sqrt(square / left.length);
    axes.push(Float32Array.from(direction, (value) => value * deviation));
  }
  return axes;
}
