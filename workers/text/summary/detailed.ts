import { clockTime } from "../../../src/wire/clock-time.ts";
import { toTerms } from "../language/terms.ts";
import { type Centrality, rankSentences } from "./centrality.ts";
import { type NounPhrase, nounPhrasesOf } from "./noun-phrases.ts";
import { cutSections } from "./sections.ts";
import { selectSentences } from "./select.ts";
import type { Sentence, SpokenText } from "./spoken-text.ts";
import { nothing, quote, type SummaryDraft } from "./summary-draft.ts";

/** Three to five sentences about the main content of the conversation. */
export function* summariseBriefly(text: SpokenText): Generator<number, SummaryDraft> {
  const { sentences, english } = text;
  const centrality = yield* rankSentences(sentences);
  const chosen = selectSentences(sentences, sizeOf(sentences.length), text, centrality);
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
/** Shorter sentences tell nothing without those around them. */
const MIN_WORDS = 4;
/** So many terms of a section, and so many sentences with each, are read for its heading. */
const HEADING_TERMS = 6;
const SENTENCES_PER_TERM = 2;

/** About a fifth of what was said, in order, by topic. */
export function* summariseInDetail(text: SpokenText): Generator<number, SummaryDraft> {
  const { sentences } = text;
  const centrality = yield* rankSentences(sentences);
  const sections = yield* cutSections(sentences, centrality.vectors);
  const count = Math.min(MAX_SENTENCES, Math.max(MIN_SENTENCES, sentences.length * SHARE));
  const parts: Part[] = [];
  for (const section of sections) {
    const part = toPart(section, count, text, centrality);
    if (part.items.length > 0) parts.push(part);
    yield 1;
  }
  // Where nothing was named, people only agreed or joked.
  const named = text.english ? parts.filter(({ isNamed }) => isNamed) : parts;
  const kept = named.length > 0 ? named : parts;
  const items = kept.flatMap((part) => part.items);
  if (items.length === 0) return nothing("Nothing of substance was said.");
  return { text: kept.map((part) => part.text).join("\n\n"), items };
}

interface Part extends SummaryDraft {
  /** True when its heading has more than a time. */
  isNamed: boolean;
}

function toPart(
  section: readonly Sentence[],
  count: number,
  text: SpokenText,
  centrality: Centrality,
): Part {
  const { sentences, english } = text;
  const share = Math.max(1, Math.round((count * section.length) / sentences.length));
  const telling = section.filter(({ wordCount }) => wordCount >= MIN_WORDS);
  const chosen = selectSentences(telling, share, text, centrality);
  if (chosen.length === 0) return { text: "", items: [], isNamed: false };
  const names = english ? topicsOf(section, centrality) : wordsOf(section, centrality);
  const heading = [clockTime((section[0]?.startMs ?? 0) / 1_000), names.join(", ")]
    .join(" ")
    .trim();
  const items = chosen.map((sentence) => ({ ...quote(sentence, english), section: heading }));
  const lines = items.map(({ speaker, text }) => `${speaker}: ${text}`);
  return { text: [heading, ...lines].join("\n"), items, isNamed: names.length > 0 };
}

/** The noun phrases that tell a section from the others, the most telling first. */
function topicsOf(section: readonly Sentence[], { vectors }: Centrality): string[] {
  const weights = weightsOf(section, vectors);
  const terms = [...weights].toSorted(byWeight).slice(0, HEADING_TERMS);
  const read = new Set(
    terms.flatMap(([term]) =>
      section.filter((sentence) => sentence.terms.includes(term)).slice(0, SENTENCES_PER_TERM),
    ),
  );
  const phrases = new Map<string, NounPhrase & { weight: number }>();
  for (const sentence of read) {
    for (const found of nounPhrasesOf(sentence)) {
      const own = toTerms(found.phrase, true);
      const sum = own.reduce((total, term) => total + (weights.get(term) ?? 0), 0);
      const weight = sum / Math.sqrt(own.length + 1);
      if (sum > 0) phrases.set(found.terms.join(" "), { ...found, weight });
    }
  }
  const chosen: NounPhrase[] = [];
  for (const each of [...phrases.values()].toSorted((a, b) => b.weight - a.weight)) {
    const isNew = chosen.every((other) => !other.terms.some((term) => each.terms.includes(term)));
    if (isNew && chosen.length < KEY_WORDS) chosen.push(each);
  }
  return chosen.map(({ phrase }) => phrase);
}

/** The words that tell a section from the others, where nouns are not known. */
function wordsOf(section: readonly Sentence[], { vectors }: Centrality): string[] {
  return [...weightsOf(section, vectors)]
    .toSorted(byWeight)
    .slice(0, KEY_WORDS)
    .map(([term]) => term);
}

type Weighted = readonly [term: string, weight: number];

function byWeight([one, a]: Weighted, [other, b]: Weighted): number {
  return b - a || (one < other ? -1 : 1);
}

/** How much each term tells of a section; what was said once in it counts only where nothing else is. */
function weightsOf(
  section: readonly Sentence[],
  vectors: Centrality["vectors"],
): Map<string, number> {
  const weights = new Map<string, number>();
  const uses = new Map<string, number>();
  for (const { index } of section) {
    for (const [term, weight] of vectors[index] ?? new Map<string, number>()) {
      weights.set(term, (weights.get(term) ?? 0) + weight);
      uses.set(term, (uses.get(term) ?? 0) + 1);
    }
  }
  const repeated = [...weights].filter(([term]) => (uses.get(term) ?? 0) > 1);
  return repeated.length > 0 ? new Map(repeated) : weights;
}
