/** Weights with which the chance of a yes is 1 / (1 + exp(-(constant + Σ weight × value))). */
export interface LogisticModel {
  constant: number;
  weights: number[];
}

export interface Example {
  values: readonly number[];
  isYes: boolean;
  /** Counts as so many examples; 1 by default. */
  weight?: number;
}

const ROUNDS = 50;
/** Keeps the equations solvable where an example tells nothing. */
const RIDGE = 1e-6;

/** Fits by Newton's method (iteratively reweighted least squares). */
export function fitLogistic(examples: readonly Example[]): LogisticModel {
  const rows = examples.map(({ values }) => [1, ...values]);
  const size = rows[0]?.length ?? 1;
  let model = new Array<number>(size).fill(0);
  for (let round = 0; round < ROUNDS; round++) {
    const slope = new Array<number>(size).fill(0);
    const curve = Array.from({ length: size }, (_, i) =>
      Array.from({ length: size }, (_, j): number => (i === j ? RIDGE : 0)),
    );
    for (const [at, row] of rows.entries()) {
      const chance = chanceOf(model, row);
      const weight = examples[at]?.weight ?? 1;
      const rest = weight * ((examples[at]?.isYes ? 1 : 0) - chance);
      for (const [i, value] of row.entries()) {
        slope[i] = (slope[i] ?? 0) + rest * value;
        const line = curve[i] ?? [];
        for (const [j, other] of row.entries()) {
          line[j] = (line[j] ?? 0) + weight * chance * (1 - chance) * value * other;
        }
      }
    }
    const step = solve(curve, slope);
    model = model.map((weight, i) => weight + (step[i] ?? 0));
  }
  const [constant = 0, ...weights] = model;
  return { constant, weights };
}

function chanceOf(model: readonly number[], row: readonly number[]): number {
  const sum = row.reduce((total, value, i) => total + value * (model[i] ?? 0), 0);
  return 1 / (1 + Math.exp(-sum));
}

/** Gauss's elimination with the largest pivot. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, i) => [...row, right[i] ?? 0]);
  const size = rows.length;
  const cell = (i: number, j: number) => rows[i]?.[j] ?? 0;
  for (let pivot = 0; pivot < size; pivot++) {
    let best = pivot;
    for (let i = pivot + 1; i < size; i++) {
      if (Math.abs(cell(i, pivot)) > Math.abs(cell(best, pivot))) best = i;
    }
    [rows[pivot], rows[best]] = [rows[best] ?? [], rows[pivot] ?? []];
    for (let i = 0; i < size; i++) {
      if (i === pivot) continue;
      const factor = cell(i, pivot) / cell(pivot, pivot);
      rows[i] = (rows[i] ?? []).map((value, j) => value - factor * cell(pivot, j));
    }
  }
  return rows.map((_, i) => cell(i, size) / cell(i, i));
}
