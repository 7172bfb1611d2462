import { CEPSTRA } from "../voices/mel-cepstrum.ts";
import { SPEECH_COVARIANCE } from "./speech-covariance.ts";

/** Numbers of the logarithm of a covariance: its lower triangle. */
export const LOG_COVARIANCE_SIZE = (CEPSTRA * (CEPSTRA + 1)) / 2;

/** Weight of the covariance of any speech, in frames: it keeps that of short stretches finite. */
const PRIOR_FRAMES = 20;
const LEAST_EIGENVALUE = 1e-6;
const SWEEPS = 12;
const DEVIATIONS = Float64Array.from({ length: CEPSTRA }, (_, i) =>
  Math.sqrt(SPEECH_COVARIANCE[triangle(i, i)] ?? 1),
);

/**
 * The logarithm of the covariance of c1 to c19, as a vector whose squared distances are those of the
 * matrices (log-Euclidean metric, Arsigny and others 2006). It tells how a voice moves, whatever the
 * microphone adds to the mean. `count` frames have these sums and products (lower triangle).
 */
export function logCovariance(
  count: number,
  sums: Float64Array,
  products: Float64Array,
): Float32Array {
  const matrix: Float64Array[] = Array.from({ length: CEPSTRA }, () => new Float64Array(CEPSTRA));
  for (let i = 0; i < CEPSTRA; i++) {
    for (let j = 0; j <= i; j++) {
      const at = triangle(i, j);
      const product = (products[at] ?? 0) - ((sums[i] ?? 0) * (sums[j] ?? 0)) / Math.max(1, count);
      const covariance =
        (product + PRIOR_FRAMES * (SPEECH_COVARIANCE[at] ?? 0)) / (count + PRIOR_FRAMES);
      put(matrix, i, j, covariance / ((DEVIATIONS[i] ?? 1) * (DEVIATIONS[j] ?? 1)));
    }
  }
  return logarithm(matrix);
}

function triangle(i: number, j: number): number {
  return (i * (i + 1)) / 2 + j;
}

function put(matrix: readonly Float64Array[], i: number, j: number, value: number): void {
  const [row, column] = [matrix[i], matrix[j]];
  if (row) row[j] = value;
  if (column) column[i] = value;
}

/** By the eigenvectors, which Jacobi's rotations find. */
function logarithm(matrix: Float64Array[]): Float32Array {
  const axes = eigenvectors(matrix);
  const logs = matrix.map((row, k) => Math.log(Math.max(row[k] ?? 0, LEAST_EIGENVALUE)));
  const out = new Float32Array(LOG_COVARIANCE_SIZE);
  for (let i = 0; i < CEPSTRA; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = 0;
      for (let k = 0; k < CEPSTRA; k++) {
        sum += (axes[i]?.[k] ?? 0) * (logs[k] ?? 0) * (axes[j]?.[k] ?? 0);
      }
      out[triangle(i, j)] = i === j ? sum : Math.SQRT2 * sum;
    }
  }
  return out;
}

/** Turns the symmetric matrix into a diagonal one; returns the rotation, a column for each axis. */
function eigenvectors(matrix: Float64Array[]): Float64Array[] {
  const axes = matrix.map((_, i) => {
    const row = new Float64Array(CEPSTRA);
    row[i] = 1;
    return row;
  });
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    let off = 0;
    for (let p = 0; p < CEPSTRA; p++) {
      for (let q = p + 1; q < CEPSTRA; q++) off += rotate(matrix, axes, p, q);
    }
    if (off < 1e-9) break;
  }
  return axes;
}

function turnColumns(
  rows: readonly Float64Array[],
  p: number,
  q: number,
  cosine: number,
  sine: number,
): void {
  for (const row of rows) {
    const a = row[p] ?? 0;
    const b = row[q] ?? 0;
    row[p] = cosine * a - sine * b;
    row[q] = sine * a + cosine * b;
  }
}

/** One rotation, after which the element at (p, q) is zero; returns what was there, squared. */
function rotate(
  matrix: readonly Float64Array[],
  axes: readonly Float64Array[],
  p: number,
  q: number,
): number {
  const [rowP, rowQ] = [matrix[p], matrix[q]];
  const apart = rowP?.[q] ?? 0;
  if (!rowP || !rowQ || Math.abs(apart) < 1e-12) return 0;
  const theta = ((rowQ[q] ?? 0) - (rowP[p] ?? 0)) / (2 * apart);
  const tangent = Math.sign(theta || 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const cosine = 1 / Math.sqrt(tangent * tangent + 1);
  const sine = tangent * cosine;
  turnColumns(matrix, p, q, cosine, sine);
  turnColumns(axes, p, q, cosine, sine);
  for (let k = 0; k < CEPSTRA; k++) {
    const a = rowP[k] ?? 0;
    const b = rowQ[k] ?? 0;
    rowP[k] = cosine * a - sine * b;
    rowQ[k] = sine * a + cosine * b;
  }
  return apart * apart;
}
