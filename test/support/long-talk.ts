import type { SegmentRecord } from "../../src/conversations/transcript/writing/segment-record.ts";

const TEXT = "so we are going to look, if you want, at all the things that came of it.".split(" ");
const WORDS = 15;
/** Samples of a word with what follows it, of the word alone, and of the pause after a segment. */
const [PACE, SPOKEN, PAUSE] = [5_500, 5_000, 8_000];

/** Segments of a talk that goes on without a longer pause, some 5,000 in eight hours. */
export function longTalk(segments: number, speakers = 1): SegmentRecord[] {
  return Array.from({ length: segments }, (_, place) => {
    const from = place * (WORDS * PACE + PAUSE);
    const words = Array.from({ length: WORDS }, (_, at) => {
      const start = from + at * PACE;
      const text = TEXT[(place + at) % TEXT.length] ?? "";
      const unclear = (place + at) % 9 === 0 ? { unclear: true } : {};
      return { text, start, end: start + SPOKEN, confidence: 0.9, ...unclear };
    });
    return {
      id: `01a217f6-1059-7000-8000-${String(place).padStart(12, "0")}`,
      ...{ start: from, end: from + WORDS * PACE, label: `S${1 + (place % speakers)}` },
      ...{ text: words.map(({ text }) => text).join(" "), words },
      ...{ confidence: 0.9, revision: 1, redacted: false },
    };
  });
}
