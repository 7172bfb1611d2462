import type { Line, TranscriptState } from "./transcript-state.ts";

export interface Share {
  readonly label: string;
  /** Of all that was spoken, 0 to 1. */
  readonly share: number;
  readonly seconds: number;
  readonly lines: number;
}

/**
 * Who spoke how much, by the lengths of the final lines and of what others said within them; who
 * spoke most comes first.
 */
export function sharesOf(
  lines: readonly Line[],
  overlapsOf: TranscriptState["overlapsOf"],
): Share[] {
  const found = new Map<string, { seconds: number; lines: number }>();
  const add = (label: string, { start, end }: { start: number; end: number }, lines: number) => {
    const sum = found.get(label) ?? { seconds: 0, lines: 0 };
    const seconds = sum.seconds + Math.max(0, end - start);
    found.set(label, { seconds, lines: sum.lines + lines });
  };
  for (const line of lines) {
    if (!line.isFinal) continue;
    add(line.speaker, line, 1);
    for (const overlap of overlapsOf(line)) add(overlap.label, overlap, 0);
  }
  const all = [...found.values()].reduce((sum, { seconds }) => sum + seconds, 0);
  return [...found]
    .map(([label, sum]) => ({ label, ...sum, share: all === 0 ? 0 : sum.seconds / all }))
    .sort((a, b) => b.seconds - a.seconds);
}
