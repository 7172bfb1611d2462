import type { Line } from "./transcript-state.ts";

interface Share {
  readonly label: string;
  /** Of all that was spoken, 0 to 1. */
  readonly share: number;
  readonly seconds: number;
  readonly lines: number;
}

/** Who spoke how much, by the lengths of the final lines; who spoke most comes first. */
export function sharesOf(lines: readonly Line[]): Share[] {
  const found = new Map<string, { seconds: number; lines: number }>();
  for (const { speaker, start, end, isFinal } of lines) {
    if (!isFinal) continue;
    const sum = found.get(speaker) ?? { seconds: 0, lines: 0 };
    sum.seconds += Math.max(0, end - start);
    sum.lines += 1;
    found.set(speaker, sum);
  }
  const all = [...found.values()].reduce((sum, { seconds }) => sum + seconds, 0);
  return [...found]
    .map(([label, sum]) => ({ label, ...sum, share: all === 0 ? 0 : sum.seconds / all }))
    .sort((a, b) => b.seconds - a.seconds);
}
