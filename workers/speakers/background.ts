import type { Gaussians } from "../voices/gaussians.ts";
import { FRAME_SIZE } from "../voices/voice-frames.ts";
import { voiceModel } from "../voices/voice-model.ts";

/** Gaussians of the background that voices in one session are compared by. */
export const BACKGROUND_SIZE = 16;

let shared: Gaussians | undefined;

/**
 * The background of the shipped model of voices, reduced to 16 Gaussians: with as many, voices of
 * one session are told apart as well as with 64, and what is kept of each stretch is a quarter.
 */
export function speakerBackground(): Gaussians {
  shared ??= reduced(voiceModel().background, BACKGROUND_SIZE);
  return shared;
}

interface Component {
  weight: number;
  mean: Float64Array;
  variance: Float64Array;
  /** Half the weight times the logarithm of the determinant. */
  spread: number;
}

interface Pair {
  one: Component;
  other: Component;
  both: Component;
  /** What is lost by joining them. */
  loss: number;
}

/**
 * Joins the two components that lose least by it, until `count` are left (Runnalls 2007,
 * "Kullback-Leibler approach to Gaussian mixture reduction").
 */
function reduced(mixture: Gaussians, count: number): Gaussians {
  let components = Array.from({ length: mixture.count }, (_, g) => {
    const row = (values: Float32Array) =>
      Float64Array.from(values.subarray(g * FRAME_SIZE, (g + 1) * FRAME_SIZE));
    const weight = Math.exp(mixture.logWeights[g] ?? 0);
    return component(weight, row(mixture.means), row(mixture.variances));
  });
  let pairs = components.flatMap((a, i) => pairsOf(a, components.slice(0, i)));
  while (components.length > count) {
    const { one, other, both } = pairs.reduce((least, pair) =>
      pair.loss < least.loss ? pair : least,
    );
    const isLeft = (each: Component) => each !== one && each !== other;
    components = components.filter(isLeft);
    pairs = pairs.filter((pair) => isLeft(pair.one) && isLeft(pair.other));
    pairs.push(...pairsOf(both, components));
    components.push(both);
  }
  return {
    count: components.length,
    logWeights: Float32Array.from(components, ({ weight }) => Math.log(weight)),
    means: Float32Array.from(components.flatMap(({ mean }) => [...mean])),
    variances: Float32Array.from(components.flatMap(({ variance }) => [...variance])),
  };
}

function pairsOf(one: Component, others: readonly Component[]): Pair[] {
  return others.map((other) => {
    const both = merged(one, other);
    return { one, other, both, loss: both.spread - one.spread - other.spread };
  });
}

function component(weight: number, mean: Float64Array, variance: Float64Array): Component {
  const log = variance.reduce((sum, each) => sum + Math.log(each), 0);
  return { weight, mean, variance, spread: (weight * log) / 2 };
}

function merged(a: Component, b: Component): Component {
  const weight = a.weight + b.weight;
  const share = a.weight / weight;
  const mean = a.mean.map((each, c) => share * each + (1 - share) * (b.mean[c] ?? 0));
  const variance = a.variance.map((each, c) => {
    const off = (a.mean[c] ?? 0) - (b.mean[c] ?? 0);
    return share * each + (1 - share) * (b.variance[c] ?? 0) + share * (1 - share) * off * off;
  });
  return component(weight, mean, variance);
}
