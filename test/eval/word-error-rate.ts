/** What became of one word; the indices point into the reference and the hypothesis. */
export type AlignedWord =
  | {
      readonly kind: "correct" | "substitution";
      readonly reference: number;
      readonly hypothesis: number;
    }
  | { readonly kind: "deletion"; readonly reference: number }
  | { readonly kind: "insertion"; readonly hypothesis: number };

/** Counts of an alignment. `rate` is (S + D + I) / reference words, a share and not a percentage. */
export interface WordErrors {
  readonly reference_words: number;
  readonly hypothesis_words: number;
  readonly correct: number;
  readonly substitutions: number;
  readonly deletions: number;
  readonly insertions: number;
  readonly rate: number;
}

const SUBSTITUTION_COST = 4;
const GAP_COST = 3;
/** 64 Mi cells of one byte: two texts of 8,000 words each. */
const MOST_CELLS = 64 * 1024 * 1024;

const DIAGONAL = 0;
const DELETION = 1;
const INSERTION = 2;

/**
 * Aligns two lists of normalised words at least cost, with the costs of NIST sclite: 4 for a
 * substitution, 3 for a deletion or an insertion, 0 for a match. Time and memory grow with the
 * product of the lengths. Throws RangeError beyond 64 Mi cells.
 */
export function alignWords(
  reference: readonly string[],
  hypothesis: readonly string[],
): AlignedWord[] {
  const rows = reference.length + 1;
  const columns = hypothesis.length + 1;
  if (rows * columns > MOST_CELLS) {
    throw new RangeError(`too long to align: ${reference.length} × ${hypothesis.length} words`);
  }
  return trace(fillMoves(reference, hypothesis), reference, hypothesis);
}

/** Word error rate of two lists of normalised words. An empty reference gives rate 0 or Infinity. */
export function wordErrors(
  reference: readonly string[],
  hypothesis: readonly string[],
): WordErrors {
  const aligned = alignWords(reference, hypothesis);
  const count = (kind: AlignedWord["kind"]) => aligned.filter((word) => word.kind === kind).length;
  const substitutions = count("substitution");
  const deletions = count("deletion");
  const insertions = count("insertion");
  const errors = substitutions + deletions + insertions;
  return {
    reference_words: reference.length,
    hypothesis_words: hypothesis.length,
    correct: count("correct"),
    substitutions,
    deletions,
    insertions,
    rate: errors === 0 ? 0 : errors / reference.length,
  };
}

/** The best last move into each cell, row by row; ties fall as in `sclite`. */
function fillMoves(reference: readonly string[], hypothesis: readonly string[]): Uint8Array {
  const columns = hypothesis.length + 1;
  const moves = new Uint8Array((reference.length + 1) * columns).fill(INSERTION, 1, columns);
  let above = Float64Array.from({ length: columns }, (_, column) => column * GAP_COST);
  let current = new Float64Array(columns);
  for (let row = 1; row <= reference.length; row++) {
    current[0] = row * GAP_COST;
    moves[row * columns] = DELETION;
    for (let column = 1; column < columns; column++) {
      const same = reference[row - 1] === hypothesis[column - 1];
      const diagonal = (above[column - 1] ?? 0) + (same ? 0 : SUBSTITUTION_COST);
      const deletion = (above[column] ?? 0) + GAP_COST;
      const insertion = (current[column - 1] ?? 0) + GAP_COST;
      const best = Math.min(diagonal, deletion, insertion);
      current[column] = best;
      moves[row * columns + column] =
        best === diagonal ? DIAGONAL : best === insertion ? INSERTION : DELETION;
    }
    [above, current] = [current, above];
  }
  return moves;
}

function trace(
  moves: Uint8Array,
  reference: readonly string[],
  hypothesis: readonly string[],
): AlignedWord[] {
  const columns = hypothesis.length + 1;
  const aligned: AlignedWord[] = [];
  let row = reference.length;
  let column = hypothesis.length;
  while (row > 0 || column > 0) {
    const move = moves[row * columns + column];
    if (move === DELETION) aligned.push({ kind: "deletion", reference: --row });
    else if (move === INSERTION) aligned.push({ kind: "insertion", hypothesis: --column });
    else {
      row--;
      column--;
      const kind = reference[row] === hypothesis[column] ? "correct" : "substitution";
      aligned.push({ kind, reference: row, hypothesis: column });
    }
  }
  return aligned.reverse();
}
