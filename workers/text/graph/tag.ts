import { compromise } from "../../../src/language/compromise.ts";
import { nameTokens } from "./entity-names.ts";
import type { Span, TaggedSentence, TaggedTerm } from "./span.ts";

/** Nouns that occur in every conversation and say nothing about its topic. */
const STOP_NOUNS: ReadonlySet<string> = new Set(
  `ah aha all anybody anyone anything bit bunch case cause chance choice couple course deal everybody
  everyone everything example fact feeling folk folks gentleman gentlemen guess guy guys half hand
  hello her here hey hi his hmm huh idea instance issue item its kind ladies lady least lot lots man manner matter
  mhm mind mm moment most my need news nobody none nothing oh ok okay ooh one ones opinion order other
  others our part people person piece place point question reason rest right second sense side
  somebody someone something sort start stuff sure thank thanks their there thing things thought time times
  today tomorrow top total type uh uhhuh um use view way ways what whatever which while who whole
  will wonder word words yeah yep yes yesterday your`.split(/\s+/),
);

/** Verbs that link no entities. */
export const STOP_VERBS: ReadonlySet<string> = new Set(
  "be can could do get go guess have know let may mean might must shall should suppose think will would".split(
    " ",
  ),
);

/** Words that are always treated as names of people. */
export type NameLexicon = Readonly<Record<string, string>>;

type Doc = ReturnType<ReturnType<typeof compromise>>;
type Sentence = Doc["docs"][number];
/** The common part of all views. */
type Found = Pick<Doc, "fullPointer">;

/** Patterns by type, the most reliable first: later ones skip terms that were matched. */
const PATTERN_TEXTS: readonly (readonly [Span["type"], string])[] = [
  ["date", "#Ordinal? (week|weekend|month|quarter|year) of (this|next|last|the)? #Date+"],
  ["date", "(beginning|middle|end) of (this|next|last|the)? #Date+"],
  ["date", "(this|next|last) (week|weekend|month|quarter|year|spring|summer|autumn|winter)"],
  ["date", "(this|next|last) (#WeekDay|#Month) (morning|afternoon|evening|night)?"],
  ["date", "#Value o'clock"],
  ["date", "(#WeekDay|today|tomorrow|yesterday) (morning|afternoon|evening|night)"],
  ["number", "#Value #Duration"],
  ["date", "#Date+"],
  ["number", "#Percent+ #Unit?"],
  ["number", "#Value+ #Unit"],
];

const PATTERNS = PATTERN_TEXTS.map(
  ([type, text]) => [type, compromise().parseMatch(text)] as const,
);

const BARE_DATES = new Set(
  "day days week weeks weekend month months quarter year years hour hours minute minutes second seconds time now may".split(
    " ",
  ),
);

/** Types for which a title alone, or two letters, are not a name: "Ms", "co". */
const NAMES: ReadonlySet<Span["type"]> = new Set(["person", "place", "organisation"]);

const NOT_TOPICS = [
  "Pronoun",
  "Date",
  "Value",
  "Determiner",
  "Expression",
  "Duration",
  "Unit",
  "There",
];
const MAX_TOPIC_TERMS = 3;

/** Segments tagged together, in one step: cheaper than one by one. */
const BATCH = 25;
/** Ends a sentence, so that none spans two segments. */
const SEPARATOR = "\n\n";

interface HeardWord {
  text: string;
  unclear?: boolean | undefined;
}

/** The sentences of each segment with their spans, in steps. */
export function* tagSegments(
  segments: readonly (readonly HeardWord[])[],
  lexicon: NameLexicon,
): Generator<undefined, TaggedSentence[][]> {
  const tagged: TaggedSentence[][] = [];
  for (let at = 0; at < segments.length; at += BATCH) {
    tagged.push(...tagBatch(segments.slice(at, at + BATCH), lexicon));
    yield undefined;
  }
  return tagged;
}

function tagBatch(
  segments: readonly (readonly HeardWord[])[],
  lexicon: NameLexicon,
): TaggedSentence[][] {
  const texts = segments.map((words) =>
    words.map(({ text }) => text.replace(/\s/g, "_")).join(" "),
  );
  const doc = compromise()(texts.join(SEPARATOR), lexicon);
  const sentences = toSentences(doc, places(segments));
  const take = (type: Span["type"], view: Found): void => takeView(sentences, type, view);
  take("money", doc.money());
  for (const [type, pattern] of PATTERNS) take(type, doc.match(pattern));
  take("person", doc.people());
  take("place", doc.places());
  take("organisation", doc.organizations());
  const tagged = segments.map((): TaggedSentence[] => []);
  for (const sentence of sentences) {
    takeTopics(sentence);
    sentence.spans.sort((a, b) => a.from - b.from);
    tagged[sentence.segment]?.push(sentence);
  }
  return tagged;
}

/** Position of a word in the text of its batch. */
interface Place {
  start: number;
  segment: number;
  word: number;
  unclear: boolean;
}

function places(segments: readonly (readonly HeardWord[])[]): Place[] {
  let at = 0;
  return segments.flatMap((words, segment) => {
    const found = words.map(({ text, unclear = false }, word) => {
      const start = at;
      at += text.length + (word + 1 < words.length ? 1 : 0);
      return { start, segment, word, unclear };
    });
    at += SEPARATOR.length;
    return found;
  });
}

type OpenSentence = TaggedSentence & { segment: number; texts: string[] };

/** Finds each term's word by its position in the text, which consists of the terms. */
function toSentences(doc: Doc, words: readonly Place[]): OpenSentence[] {
  let at = 0;
  let index = 0;
  return doc.docs.map((sentence) => {
    const terms = sentence.map((term): TaggedTerm => {
      const start = at + term.pre.length;
      at = start + term.text.length + term.post.length;
      // A term split off from a contraction has no text and belongs to the word before it.
      while (term.text !== "" && (words[index + 1]?.start ?? Number.POSITIVE_INFINITY) <= start) {
        index += 1;
      }
      const { word = 0, unclear = false } = words[index] ?? {};
      return {
        normal: implicitOf(term) ?? term.normal,
        tags: term.tags ?? new Set(),
        word,
        breaks: unclear || /[,.;:!?]/.test(term.post),
        unclear,
      };
    });
    const segment = words[index]?.segment ?? 0;
    return { terms, spans: [], segment, texts: sentence.map((term) => term.text) };
  });
}

function implicitOf(term: Sentence[number]): string | undefined {
  return (term as { implicit?: string }).implicit;
}

function takeView(sentences: readonly OpenSentence[], type: Span["type"], view: Found): void {
  for (const [index, from, to] of view.fullPointer) {
    const sentence = sentences[index ?? 0];
    if (sentence === undefined || from === undefined || to === undefined) continue;
    takeSpan(sentence, type, from, to);
  }
}

function takeSpan(sentence: OpenSentence, type: Span["type"], from: number, to: number): void {
  const { spans, terms, texts } = sentence;
  if (spans.some((span) => span.from < to && from < span.to)) return;
  const inside = terms.slice(from, to);
  if (inside.some(({ unclear }) => unclear)) return;
  if (type === "date" && inside.every(({ normal }) => BARE_DATES.has(normal))) return;
  if (type !== "date" && inside.every(({ tags }) => tags.has("Pronoun"))) return;
  const text = trimmed(texts.slice(from, to).filter(Boolean).join(" "));
  if (NAMES.has(type) && (nameTokens(text).length === 0 || /^\p{Ll}{2}$/u.test(text))) return;
  if (/[\p{L}\p{N}]{2}/u.test(text)) spans.push({ type, from, to, text });
}

function trimmed(text: string): string {
  return text.replace(/^[^\p{L}\p{N}$€£]+|[^\p{L}\p{N}%]+$/gu, "");
}

/** Takes sequences of nouns that no pattern has matched as topics: "remote control", "report". */
function takeTopics(sentence: OpenSentence): void {
  const { terms, spans } = sentence;
  const taken = (index: number): boolean =>
    spans.some((span) => span.from <= index && index < span.to);
  let from = 0;
  while (from < terms.length) {
    let to = from;
    while (to < terms.length && isTopicTerm(terms[to]) && !taken(to)) {
      to += 1;
      if (terms[to - 1]?.breaks) break;
    }
    if (to > from) takeTopic(sentence, from, to);
    from = Math.max(to, from + 1);
  }
}

function isTopicTerm(term: TaggedTerm | undefined): boolean {
  if (term === undefined || term.unclear || !term.tags.has("Noun")) return false;
  if (NOT_TOPICS.some((tag) => term.tags.has(tag))) return false;
  return term.normal.length > 2 || term.tags.has("Acronym");
}

/** Takes a noun phrase as topic unless its head, the last noun, says nothing. */
function takeTopic(sentence: OpenSentence, from: number, to: number): void {
  let first = Math.max(from, to - MAX_TOPIC_TERMS);
  while (first < to && STOP_NOUNS.has(sentence.terms[first]?.normal ?? "")) first += 1;
  const head = sentence.terms[to - 1];
  if (first < to && head !== undefined && !STOP_NOUNS.has(head.normal)) {
    takeSpan(sentence, "topic", first, to);
  }
}
