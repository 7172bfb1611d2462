import type { SummariseRequest, TextSegment } from "../../../src/wire/gen/voice/v1/text.ts";
import { splitSentences } from "../sentences.ts";
import { isEnglish, toTerms } from "../terms.ts";

/** One sentence with where it was said. */
export interface Sentence {
  /** Place among the sentences of the session. */
  index: number;
  text: string;
  speaker: string;
  segmentId: string;
  /** Estimated from its place within the segment. */
  startMs: number;
  wordCount: number;
  /** Terms that carry meaning, with repetitions. */
  terms: readonly string[];
}

/** A session's words, ready to be summarised. */
export interface SpokenText {
  english: boolean;
  language: string;
  segments: readonly TextSegment[];
  sentences: readonly Sentence[];
}

/** Segments read between two pauses. */
const STEP = 50;

export function* readSpokenText(request: SummariseRequest): Generator<undefined, SpokenText> {
  const english = isEnglish(request.language);
  const sentences: Sentence[] = [];
  for (const [index, segment] of request.segments.entries()) {
    if (index % STEP === STEP - 1) yield undefined;
    for (const sentence of readSegment(segment, english)) {
      sentences.push({ ...sentence, index: sentences.length });
    }
  }
  return { english, language: request.language, segments: request.segments, sentences };
}

function readSegment(segment: TextSegment, english: boolean): Omit<Sentence, "index">[] {
  const { id, speaker, startMs, endMs } = segment;
  const texts = splitSentences(segment.text, segment.pauses);
  const total = countWords(segment.text);
  let before = 0;
  return texts.map((text) => {
    const wordCount = countWords(text);
    const at = startMs + Math.round(((endMs - startMs) * before) / Math.max(1, total));
    before += wordCount;
    return {
      text,
      speaker,
      segmentId: id,
      startMs: at,
      wordCount,
      terms: toTerms(text, english),
    };
  });
}

function countWords(text: string): number {
  return text.split(/\s+/u).filter((word) => word !== "").length;
}
