import type { Word } from "../../session/write.ts";

export interface ChunkSpan {
  /** Samples at 16 kHz; undefined until the chunk has its place. */
  start?: number;
  length?: number;
}

/**
 * The text of each chunk: the words whose middle lies in its span, in order of
 * time. A word on a boundary so belongs to one chunk, whole.
 */
export function chunkTexts(spans: readonly ChunkSpan[], words: readonly Word[]): string[] {
  const middles = words
    .map((word) => ({ text: word.text, middle: (word.start + word.end) / 2 }))
    .sort((a, b) => a.middle - b.middle);
  return spans.map(({ start, length }) => {
    if (start === undefined || length === undefined) return "";
    const texts: string[] = [];
    for (let at = lowerBound(middles, start); at < middles.length; at += 1) {
      const word = middles[at];
      if (word === undefined || word.middle >= start + length) break;
      texts.push(word.text);
    }
    return texts.join(" ");
  });
}

function lowerBound(middles: readonly { middle: number }[], from: number): number {
  let low = 0;
  let high = middles.length;
  while (low < high) {
    const at = (low + high) >>> 1;
    if ((middles[at]?.middle ?? 0) < from) low = at + 1;
    else high = at;
  }
  return low;
}
