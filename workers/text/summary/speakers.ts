import { clockTime } from "../../../src/wire/clock-time.ts";
import type { SummaryItem, TextSegment } from "../../../src/wire/gen/voice/v1/text.ts";
import { rankSentences } from "./centrality.ts";
import { selectSentences } from "./select.ts";
import type { SpokenText } from "./spoken-text.ts";
import { nothing, quote, type SummaryDraft } from "./summary-draft.ts";

const SENTENCES_EACH = 2;
/** Most segments that the item with a speaker's share names. */
const MAX_SOURCES = 200;

/** How much each person spoke, with their most significant sentences. */
export function* describeSpeakers(text: SpokenText): Generator<number, SummaryDraft> {
  const { sentences, segments, english } = text;
  const centrality = yield* rankSentences(sentences);
  const spoken = groupBySpeaker(segments);
  const total = [...spoken.values()].reduce((sum, own) => sum + talkTime(own), 0);
  const parts = [...spoken].map(([speaker, own]) => {
    const candidates = sentences.filter((sentence) => sentence.speaker === speaker);
    const chosen = selectSentences(candidates, SENTENCES_EACH, text, centrality);
    const quotes = chosen.map((sentence) => quote(sentence, english));
    return [shareOf(speaker, own, total), ...quotes].map((item) => ({ ...item, section: speaker }));
  });
  if (parts.length === 0) return nothing("Nothing was said.");
  return {
    text: parts.map((items) => items.map((item) => item.text).join(" ")).join("\n"),
    items: parts.flat(),
  };
}

/** Segments by speaker, the one who spoke most first. */
function groupBySpeaker(segments: readonly TextSegment[]): Map<string, TextSegment[]> {
  const groups = new Map<string, TextSegment[]>();
  for (const segment of segments) {
    const own = groups.get(segment.speaker);
    if (own === undefined) groups.set(segment.speaker, [segment]);
    else own.push(segment);
  }
  return new Map([...groups].toSorted((a, b) => talkTime(b[1]) - talkTime(a[1])));
}

function talkTime(segments: readonly TextSegment[]): number {
  return segments.reduce((sum, { startMs, endMs }) => sum + Math.max(0, endMs - startMs), 0);
}

function shareOf(speaker: string, own: readonly TextSegment[], total: number): SummaryItem {
  const time = talkTime(own);
  const percent = total === 0 ? 0 : Math.round((100 * time) / total);
  const turns = own.length === 1 ? "1 utterance" : `${own.length} utterances`;
  return {
    text: `${speaker} spoke ${percent} % of the time (${clockTime(time / 1_000)} in ${turns}).`,
    segmentIds: own.slice(0, MAX_SOURCES).map(({ id }) => id),
    speaker,
  };
}
