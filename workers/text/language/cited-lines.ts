const MOST_CITES = 8;

/**
 * Numbers of lines in brackets, as models write them: `[3, 4]`, `[lines 3 and 4]`, `[n: 3]`, `[3-5]`, several one
 * after the other. The source of a regular expression, without groups.
 */
export const CITED_LINES =
  "\\[(?:lines?|and|n|[\\d\\s,;:=&–-]){1,80}\\](?:\\s*\\[[\\d\\s,]{1,80}\\])*";

/** The numbers in what `CITED_LINES` matched, the first few; they need not be those of any line. */
export function citedLines(cited: string): number[] {
  const numbers: number[] = [];
  for (const [, from = "", to = from] of cited.matchAll(/(\d+)(?:\s*[–-]\s*(\d+))?/gu)) {
    const [first, last] = [Number(from), Number(to)];
    numbers.push(first);
    if (last < first) numbers.push(last);
    for (let at = first + 1; at <= last && numbers.length < MOST_CITES; at += 1) numbers.push(at);
  }
  return numbers.slice(0, MOST_CITES);
}
