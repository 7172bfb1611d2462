import type { SpokenTurn } from "./diarisation-score.ts";

/** The turns of an RTTM file by the name of the recording; other lines than SPEAKER are skipped. */
export function parseRttm(text: string): Map<string, SpokenTurn[]> {
  const turns = new Map<string, SpokenTurn[]>();
  for (const line of text.split("\n")) {
    const [kind, name, , start, length, , , speaker] = line.trim().split(/\s+/);
    if (kind !== "SPEAKER" || !name || !speaker) continue;
    const turn = { start: Number(start), end: Number(start) + Number(length), speaker };
    turns.set(name, [...(turns.get(name) ?? []), turn]);
  }
  return turns;
}

/** RTTM lines with times exact to the sample; a name with blanks gets underscores. */
export function formatRttm(name: string, turns: readonly SpokenTurn[]): string {
  const id = name.replace(/\s+/g, "_");
  return turns
    .filter(({ start, end }) => end > start)
    .map(({ start, end, speaker }) => {
      const times = `${start.toFixed(7)} ${(end - start).toFixed(7)}`;
      return `SPEAKER ${id} 1 ${times} <NA> <NA> ${speaker.replace(/\s+/g, "_")} <NA> <NA>\n`;
    })
    .join("");
}
