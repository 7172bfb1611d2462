import { clockTime } from "../../../src/wire/clock-time.ts";
import { toWords } from "../language/terms.ts";
import { type Centrality, rankSentences } from "./centrality.ts";
import { cutSections } from "./sections.ts";
import { selectSentences } from "./select.ts";
import type { Sentence, SpokenText } from "./spoken-text.ts";
import { nothing, quote, type SummaryDraft } from "./summary-draft.ts";

/** Three to five sentences about the main content of the conversation. */
export function* summariseBriefly(text: SpokenText): Generator<number, SummaryDraft> {
  const { sentences, english } = text;
  const centrality = yield* rankSentences(sentences);
  const chosen = selectSentences(sentences, sizeOf(sentences.length), sentences.length, centrality);
  if (chosen.length === 0) return nothing("Nothing of substance was said.");
  const items = chosen.map((sentence) => quote(sentence, english));
  return { text: items.map((item) => item.text).join(" "), items };
}

function sizeOf(sentences: number): number {
  if (sentences < 30) return 3;
  return sentences < 120 ? 4 : 5;
}

const SHARE = 0.2;
const MIN_SENTENCES = 5;
const MAX_SENTENCES = 60;
const KEY_WORDS = 3;

/** About a fifth of what was said, in order, by topic. */
export function* summariseInDetail(text: SpokenText): Generator<number, SummaryDraft> {
  const { sentences } = text;
  const centrality = yield* rankSentences(sentences);
  const sections = yield* cutSections(sentences, centrality.vectors);
  const count = Math.min(MAX_SENTENCES, Math.max(MIN_SENTENCES, sentences.length * SHARE));
  const parts = sections.map((section) => toPart(section, count, text, centrality));
  const items = parts.flatMap((part) => part.items);
  if (items.length === 0) return nothing("Nothing of substance was said.");
  return { text: parts.map((part) => part.text).join("\n\n"), items };
}

function toPart(
  section: readonly Sentence[],
  count: number,
  { sentences, english }: SpokenText,
  centrality: Centrality,
): SummaryDraft {
  const share = Math.max(1, Math.round((count * section.length) / sentences.length));
  const chosen = selectSentences(section, share, sentences.length, centrality);
  if (chosen.length === 0) return { text: "", items: [] };
  const heading = headingOf(section, centrality);
  const items = chosen.map((sentence) => ({ ...quote(sentence, english), section: heading }));
  const lines = items.map(({ speaker, text }) => `${speaker}: ${text}`);
  return { text: [heading, ...lines].join("\n"), items };
}

/** A section's start time and its distinctive words. */
function headingOf(section: readonly Sentence[], { vectors }: Centrality): string {
  const weights = new Map<string, number>();
  const written = new Map<string, string>();
  for (const { index, clear, terms } of section) {
    for (const [term, weight] of vectors[index] ?? new Map<string, number>()) {
      weights.set(term, (weights.get(term) ?? 0) + weight);
    }
    for (const term of terms) {
      if (written.has(term)) continue;
      const word = toWords(clear).find((each) => each.startsWith(term.slice(0, 4)));
      written.set(term, word ?? term);
    }
  }
  const words = [...weights]
    .toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
    .slice(0, KEY_WORDS)
    .map(([term]) => written.get(term) ?? term);
  return `${clockTime((section[0]?.startMs ?? 0) / 1_000)} ${words.join(", ")}`;
}
