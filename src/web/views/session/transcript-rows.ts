import type { Completeness } from "../../api/records.ts";
import type { Line } from "./model/transcript-state.ts";

type Missing = Completeness["missing"][number];

/** What stands in the list: an utterance, or a span without sound. */
export type Row =
  | { readonly kind: "line"; readonly key: string; readonly line: Line; readonly isTurn: boolean }
  | { readonly kind: "gap"; readonly key: string; readonly gap: Missing };

/** The lines with the missing spans between them; `isTurn` where another speaker begins. */
export function rowsOf(lines: readonly Line[], missing: readonly Missing[]): Row[] {
  const rows: Row[] = [];
  const gaps = [...missing].sort((a, b) => a.start_ms - b.start_ms);
  let speaker = "";
  for (const line of lines) {
    for (let gap = gaps[0]; gap && gap.start_ms / 1_000 <= line.start; gap = gaps[0]) {
      rows.push(gapRow(gap));
      speaker = "";
      gaps.shift();
    }
    rows.push({ kind: "line", key: line.id, line, isTurn: line.speaker !== speaker });
    speaker = line.speaker;
  }
  return [...rows, ...gaps.map(gapRow)];
}

function gapRow(gap: Missing): Row {
  return { kind: "gap", key: `gap ${gap.start_ms}`, gap };
}

/** The row at this moment, or the last one before it; -1 for none. */
export function rowAt(rows: readonly Row[], seconds: number): number {
  let found = -1;
  for (const [n, row] of rows.entries()) {
    const start = row.kind === "line" ? row.line.start : row.gap.start_ms / 1_000;
    if (start > seconds + 0.001) break;
    if (row.kind === "line") found = n;
  }
  return found;
}
