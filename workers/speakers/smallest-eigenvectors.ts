import { fixedRandom } from "./fixed-random.ts";

/** A sparse symmetric matrix, row by row; what is not listed is 0. */
export interface SparseMatrix {
  readonly diagonal: Float64Array;
  readonly rows: readonly { readonly columns: Int32Array; readonly values: Float64Array }[];
}

interface Eigenpairs {
  /** Ascending. */
  values: number[];
  /** Of unit length, one for each value. */
  vectors: Float64Array[];
}

/** Vectors that are carried along beside those that are wanted: they speed it up. */
const GUARDS = 4;
const DEGREE = 12;
const SEED = 12_345;
const MOST_ROUNDS = 8;
/** Values that change by less than this share of the largest are found. */
const PRECISION = 1e-4;
/** Smaller matrices are solved as a whole. */
const DENSE_SIZE = 48;

/**
 * The smallest eigenvalues of a positive semidefinite matrix, with vectors: subspace iteration with a
 * Chebyshev filter (Zhou, Saad, Tiago and Chelikowsky 2006). Values that occur several times are found
 * several times. Deterministic.
 */
export function smallestEigenvectors(matrix: SparseMatrix, count: number): Eigenpairs {
  const size = matrix.diagonal.length;
  if (size <= DENSE_SIZE) return first(jacobi(dense(matrix), size), count);
  const upper = largestBound(matrix);
  const random = fixedRandom(SEED);
  const begin = Array.from({ length: Math.min(size, count + GUARDS) }, () =>
    Float64Array.from({ length: size }, () => random() - 0.5),
  );
  let found = projected(matrix, orthonormal(begin));
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const lower = found.values.at(-1) ?? 0;
    const filtered = found.vectors.map((vector) => filter(matrix, vector, lower, upper));
    const next = projected(matrix, orthonormal(filtered));
    const moved = next.values
      .slice(0, count)
      .map((value, at) => Math.abs(value - (found.values[at] ?? 0)));
    found = next;
    if (Math.max(...moved) < PRECISION * upper) break;
  }
  return first(found, count);
}

function first({ values, vectors }: Eigenpairs, count: number): Eigenpairs {
  return { values: values.slice(0, count), vectors: vectors.slice(0, count) };
}

/** No eigenvalue is larger (Gershgorin). */
function largestBound({ diagonal, rows }: SparseMatrix): number {
  const bounds = rows.map(({ values }, row) =>
    values.reduce((sum, value) => sum + Math.abs(value), diagonal[row] ?? 0),
  );
  return Math.max(...bounds, Number.EPSILON);
}

/** Keeps what belongs to eigenvalues below `lower`, and damps what belongs to those up to `upper`. */
function filter(
  matrix: SparseMatrix,
  vector: Float64Array,
  lower: number,
  upper: number,
): Float64Array {
  const half = Math.max((upper - lower) / 2, Number.EPSILON);
  const middle = (upper + lower) / 2;
  let before = vector;
  let now = product(matrix, vector);
  for (let n = 0; n < now.length; n++) now[n] = (at0(now, n) - middle * at0(vector, n)) / half;
  for (let degree = 2; degree <= DEGREE; degree++) {
    const next = product(matrix, now);
    for (let n = 0; n < next.length; n++) {
      next[n] = (2 * (at0(next, n) - middle * at0(now, n))) / half - at0(before, n);
    }
    before = now;
    now = next;
  }
  return now;
}

function product({ diagonal, rows }: SparseMatrix, vector: Float64Array): Float64Array {
  const sums = new Float64Array(vector.length);
  for (let row = 0; row < sums.length; row++) {
    const { columns, values } = rows[row] as SparseMatrix["rows"][number];
    let sum = at0(diagonal, row) * at0(vector, row);
    for (let n = 0; n < columns.length; n++) sum += at0(values, n) * at0(vector, at0(columns, n));
    sums[row] = sum;
  }
  return sums;
}

/** Gram and Schmidt, twice, as once is not exact enough. */
function orthonormal(vectors: Float64Array[]): Float64Array[] {
  const done: Float64Array[] = [];
  for (const vector of vectors) {
    for (const other of [...done, ...done]) {
      const share = inner(vector, other);
      for (let n = 0; n < vector.length; n++) vector[n] = at0(vector, n) - share * at0(other, n);
    }
    const length = Math.sqrt(inner(vector, vector)) || 1;
    done.push(vector.map((value) => value / length));
  }
  return done;
}

/** The eigenpairs of the matrix within the space of the vectors (Rayleigh and Ritz). */
function projected(matrix: SparseMatrix, vectors: readonly Float64Array[]): Eigenpairs {
  const count = vectors.length;
  const images = vectors.map((vector) => product(matrix, vector));
  const small = new Float64Array(count * count);
  for (const [i, vector] of vectors.entries()) {
    for (const [j, image] of images.entries()) small[i * count + j] = inner(vector, image);
  }
  const { values, vectors: shares } = jacobi(small, count);
  return { values, vectors: shares.map((share) => combined(vectors, share)) };
}

function combined(vectors: readonly Float64Array[], shares: Float64Array): Float64Array {
  const sum = new Float64Array(vectors[0]?.length ?? 0);
  for (const [i, vector] of vectors.entries()) {
    const share = at0(shares, i);
    for (let n = 0; n < sum.length; n++) sum[n] = at0(sum, n) + share * at0(vector, n);
  }
  return sum;
}

function dense({ diagonal, rows }: SparseMatrix): Float64Array {
  const size = diagonal.length;
  const matrix = new Float64Array(size * size);
  for (const [row, { columns, values }] of rows.entries()) {
    matrix[row * size + row] = at0(diagonal, row);
    for (const [n, column] of columns.entries()) matrix[row * size + column] = at0(values, n);
  }
  return matrix;
}

const MOST_SWEEPS = 50;
const NEGLIGIBLE = 1e-14;

/** All eigenpairs of a small symmetric matrix, by rotations (Jacobi). Changes `matrix`. */
function jacobi(matrix: Float64Array, size: number): Eigenpairs {
  const turned = new Float64Array(size * size);
  for (let n = 0; n < size; n++) turned[n * size + n] = 1;
  for (let sweep = 0; sweep < MOST_SWEEPS; sweep++) {
    let rotations = 0;
    for (let p = 0; p < size; p++) {
      for (let q = p + 1; q < size; q++) {
        if (rotate(matrix, turned, { p, q, size })) rotations += 1;
      }
    }
    if (rotations === 0) break;
  }
  const order = Array.from({ length: size }, (_, n) => n).sort(
    (a, b) => at0(matrix, a * size + a) - at0(matrix, b * size + b),
  );
  return {
    values: order.map((n) => at0(matrix, n * size + n)),
    vectors: order.map((n) => turned.slice(n * size, (n + 1) * size)),
  };
}

interface Turn {
  from: number;
  to: number;
  step: number;
  size: number;
  cosine: number;
  sine: number;
}

/** Turns rows and columns p and q so that their common element is 0; false where it is already. */
function rotate(
  matrix: Float64Array,
  turned: Float64Array,
  { p, q, size }: { p: number; q: number; size: number },
): boolean {
  const common = at0(matrix, p * size + q);
  if (Math.abs(common) < NEGLIGIBLE) return false;
  const theta = (at0(matrix, q * size + q) - at0(matrix, p * size + p)) / (2 * common);
  const tangent = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const cosine = 1 / Math.sqrt(tangent * tangent + 1);
  const sine = tangent * cosine;
  mix(matrix, { from: p, to: q, step: size, size, cosine, sine });
  mix(matrix, { from: p * size, to: q * size, step: 1, size, cosine, sine });
  mix(turned, { from: p * size, to: q * size, step: 1, size, cosine, sine });
  return true;
}

/** Turns `size` pairs of elements, of which the next is always `step` further. */
function mix(values: Float64Array, { from, to, step, size, cosine, sine }: Turn): void {
  for (let n = 0; n < size; n++) {
    // No pair of them in an array: that would be most of the work.
    const one = values[from + n * step] as number;
    const other = values[to + n * step] as number;
    values[from + n * step] = cosine * one - sine * other;
    values[to + n * step] = sine * one + cosine * other;
  }
}

function inner(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let n = 0; n < a.length; n++) sum += at0(a, n) * at0(b, n);
  return sum;
}

/** An element of an index that is known to be there. */
function at0(values: ArrayLike<number>, at: number): number {
  return values[at] as number;
}
