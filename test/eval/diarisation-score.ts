/** Who speaks from when to when, in seconds. */
export interface SpokenTurn {
  start: number;
  end: number;
  speaker: string;
}

/** Speaker time in seconds; `errorRate` is the diarisation error rate (0 for no error). */
export interface DiarisationScore {
  scored: number;
  missed: number;
  falseAlarm: number;
  confusion: number;
  errorRate: number;
  /** Which reference speaker each hypothesis speaker was taken for. */
  mapping: Map<string, string>;
}

interface Cell {
  seconds: number;
  /** False within the collar of a reference boundary. */
  isScored: boolean;
  reference: string[];
  hypothesis: string[];
}

/**
 * Diarisation error rate as NIST's md-eval counts it: time within `collar` seconds of a reference
 * boundary is left out, overlapped speech counts once for each speaker, and hypothesis speakers are
 * mapped one to one to reference speakers so that they share the most time. As in md-eval the
 * mapping looks at all of the time, also at that within the collar.
 */
export function scoreDiarisation(
  reference: readonly SpokenTurn[],
  hypothesis: readonly SpokenTurn[],
  collar = 0.25,
): DiarisationScore {
  const cells = cutIntoCells(reference, hypothesis, collar);
  const mapping = bestMapping(cells);
  const score = { scored: 0, missed: 0, falseAlarm: 0, confusion: 0 };
  for (const { seconds, isScored, reference: spoken, hypothesis: said } of cells) {
    if (!isScored) continue;
    const mapped = new Set(said.map((speaker) => mapping.get(speaker)));
    const right = spoken.filter((speaker) => mapped.has(speaker)).length;
    score.scored += seconds * spoken.length;
    score.missed += seconds * Math.max(0, spoken.length - said.length);
    score.falseAlarm += seconds * Math.max(0, said.length - spoken.length);
    score.confusion += seconds * (Math.min(spoken.length, said.length) - right);
  }
  const errors = score.missed + score.falseAlarm + score.confusion;
  return { ...score, errorRate: score.scored > 0 ? errors / score.scored : 0, mapping };
}

function cutIntoCells(
  reference: readonly SpokenTurn[],
  hypothesis: readonly SpokenTurn[],
  collar: number,
): Cell[] {
  const edges = new Set<number>();
  for (const { start, end } of [...reference, ...hypothesis]) edges.add(start).add(end);
  for (const { start, end } of reference) {
    for (const at of [start, end]) edges.add(at - collar).add(at + collar);
  }
  const sorted = [...edges].sort((a, b) => a - b);
  const cells: Cell[] = [];
  for (let i = 0; i + 1 < sorted.length; i++) {
    const from = sorted[i] ?? 0;
    const to = sorted[i + 1] ?? 0;
    const middle = (from + to) / 2;
    cells.push({
      seconds: to - from,
      isScored: !nearBoundary(reference, middle, collar),
      reference: speaking(reference, middle),
      hypothesis: speaking(hypothesis, middle),
    });
  }
  return cells;
}

function nearBoundary(turns: readonly SpokenTurn[], at: number, collar: number): boolean {
  return turns.some(
    ({ start, end }) => Math.min(Math.abs(at - start), Math.abs(at - end)) < collar,
  );
}

function speaking(turns: readonly SpokenTurn[], at: number): string[] {
  const now = turns.filter(({ start, end }) => start <= at && at < end);
  return [...new Set(now.map((turn) => turn.speaker))];
}

/** The one-to-one mapping with the most shared time (Hungarian method on the shared seconds). */
function bestMapping(cells: readonly Cell[]): Map<string, string> {
  const references = [...new Set(cells.flatMap((cell) => cell.reference))];
  const hypotheses = [...new Set(cells.flatMap((cell) => cell.hypothesis))];
  const size = Math.max(references.length, hypotheses.length);
  const shared = Array.from({ length: size }, () => new Array<number>(size).fill(0));
  for (const { seconds, reference, hypothesis } of cells) {
    for (const h of hypothesis) {
      for (const r of reference) {
        const row = shared[hypotheses.indexOf(h)];
        const column = references.indexOf(r);
        if (row) row[column] = (row[column] ?? 0) + seconds;
      }
    }
  }
  const mapping = new Map<string, string>();
  assign(shared).forEach((column, row) => {
    const [h, r] = [hypotheses[row], references[column]];
    if (h !== undefined && r !== undefined && (shared[row]?.[column] ?? 0) > 0) mapping.set(h, r);
  });
  return mapping;
}

/** Column for each row of a square matrix, the sum largest (Kuhn 1955, with potentials). */
function assign(gain: readonly (readonly number[])[]): number[] {
  const n = gain.length;
  const u = new Array<number>(n + 1).fill(0);
  const v = new Array<number>(n + 1).fill(0);
  const rowOf = new Array<number>(n + 1).fill(0);
  for (let row = 1; row <= n; row++) augment(gain, row, { u, v, rowOf });
  const columns = new Array<number>(n).fill(0);
  for (let column = 1; column <= n; column++) columns[(rowOf[column] ?? 1) - 1] = column - 1;
  return columns;
}

interface Duals {
  u: number[];
  v: number[];
  rowOf: number[];
}

function augment(gain: readonly (readonly number[])[], row: number, { u, v, rowOf }: Duals): void {
  const n = gain.length;
  const slack = new Array<number>(n + 1).fill(Infinity);
  const from = new Array<number>(n + 1).fill(0);
  const used = new Array<boolean>(n + 1).fill(false);
  rowOf[0] = row;
  let column = 0;
  do {
    used[column] = true;
    const current = rowOf[column] ?? 0;
    let least = Infinity;
    let next = 0;
    for (let j = 1; j <= n; j++) {
      if (used[j]) continue;
      const cost = -(gain[current - 1]?.[j - 1] ?? 0) - (u[current] ?? 0) - (v[j] ?? 0);
      if (cost < (slack[j] ?? 0)) {
        slack[j] = cost;
        from[j] = column;
      }
      if ((slack[j] ?? 0) < least) {
        least = slack[j] ?? 0;
        next = j;
      }
    }
    for (let j = 0; j <= n; j++) {
      if (used[j]) {
        const r = rowOf[j] ?? 0;
        u[r] = (u[r] ?? 0) + least;
        v[j] = (v[j] ?? 0) - least;
      } else slack[j] = (slack[j] ?? 0) - least;
    }
    column = next;
  } while ((rowOf[column] ?? 0) !== 0);
  while (column !== 0) {
    const before = from[column] ?? 0;
    rowOf[column] = rowOf[before] ?? 0;
    column = before;
  }
}
