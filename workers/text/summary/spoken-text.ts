import { isEnglish } from "../../../src/language/english.ts";
import { splitSentences } from "../../../src/language/sentences.ts";
import type {
  CustomSection,
  SummariseRequest,
  TextSegment,
} from "../../../src/wire/gen/voice/v1/text.ts";
import { toFluentSpeech } from "../language/fluent-speech.ts";
import { hearSentences } from "../language/heard-sentences.ts";
import { toTerms } from "../language/terms.ts";

/** One sentence with its position. */
export interface Sentence {
  /** Index among the sentences of the session. */
  index: number;
  /** Text for quotations, with its unclear words marked. */
  text: string;
  /** Its text without its unclear words. */
  clear: string;
  speaker: string;
  segmentId: string;
  /** Start in milliseconds, estimated from its position within the segment. */
  startMs: number;
  wordCount: number;
  /** Meaningful terms, with repetitions. */
  terms: readonly string[];
}

/** A session's words, prepared for a summary. */
export interface SpokenText {
  english: boolean;
  language: string;
  segments: readonly TextSegment[];
  /** What the workspace wants in its own words. */
  sections: readonly CustomSection[];
  /** Sentences that may be quoted. */
  sentences: readonly Sentence[];
  /** Share of all words that are unclear, 0..1. */
  unclearShare: number;
}

/** Segments read in one step. */
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
  const { language, segments, sections } = request;
  const unclearShare = unclearShareOf(segments);
  return { english, language, segments, sections, sentences, unclearShare };
}

function unclearShareOf(segments: readonly TextSegment[]): number {
  const words = segments.reduce((sum, { text }) => sum + countWords(text), 0);
  const unclear = segments.reduce((sum, segment) => sum + segment.unclear.length, 0);
  return words === 0 ? 0 : unclear / words;
}

function readSegment(segment: TextSegment, english: boolean): Omit<Sentence, "index">[] {
  const { id, speaker, startMs, endMs } = segment;
  const heard = hearSentences(segment.text, segment.unclear, (text) =>
    splitSentences(text, segment.pauses),
  );
  const total = countWords(segment.text);
  let before = 0;
  return heard.flatMap(({ text, clear, isQuotable, wordCount }) => {
    const at = startMs + Math.round(((endMs - startMs) * before) / Math.max(1, total));
    before += wordCount;
    if (!isQuotable) return [];
    const terms = toTerms(clear, english);
    return [{ text, clear, speaker, segmentId: id, startMs: at, wordCount, terms }];
  });
}

/** So many sentences apart, and with this share of the shorter one's terms, a person repeats what they said. */
const AGAIN_REACH = 3;
const AGAIN_SHARE = 0.6;
/** In one breath less is enough. */
const SAME_TURN_SHARE = 0.4;

/** True when the same speaker says nearly the same right after it. */
export function isSaidAgain(before: Sentence | undefined, after: Sentence): boolean {
  if (before === undefined || before.speaker !== after.speaker) return false;
  if (after.index - before.index > AGAIN_REACH) return false;
  if (before.segmentId === after.segmentId && beginningOf(before) === beginningOf(after))
    return true;
  const [one, other] = [new Set(before.terms), new Set(after.terms)];
  const shared = [...one].filter((term) => other.has(term)).length;
  const share = before.segmentId === after.segmentId ? SAME_TURN_SHARE : AGAIN_SHARE;
  return shared > 0 && shared >= share * Math.min(one.size, other.size);
}

/** So many words in a row at the beginning are no accident. */
const SAME_WORDS = 6;

function beginningOf({ clear }: Sentence): string {
  return toFluentSpeech(clear).toLowerCase().split(" ").slice(0, SAME_WORDS).join(" ");
}

function countWords(text: string): number {
  return text.split(/\s+/u).filter((word) => word !== "").length;
}
