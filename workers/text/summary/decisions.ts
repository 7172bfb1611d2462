import type { SummaryItem } from "../../../src/wire/gen/voice/v1/text.ts";
import { toTerms } from "../language/terms.ts";
import { isSaidAgain, type Sentence, type SpokenText } from "./spoken-text.ts";
import { englishOnly, nothing, quote, type SummaryDraft, toList } from "./summary-draft.ts";

const STEP = 100;
const MAX_ITEMS = 50;
const MIN_TERMS = 2;

const DECIDED = new RegExp(
  [
    "\\b(?:we|they|everyone|everybody|i)(?:'ve|\\s+have|\\s+had|\\s+all)*\\s+(?:\\w+ly\\s+)?(?:decided|agreed|settled|chose|chosen|concluded)\\b",
    "\\b(?:it\\s+(?:is|was|has\\s+been)|it's)\\s+(?:decided|agreed|settled)\\b",
    "\\b(?:the|our|my|a)\\s+(?:final\\s+)?decision\\s+(?:is|was)\\b",
    "\\b(?:made|make|take|took|reached)\\s+(?:the|a|our)\\s+decision\\b",
    "\\b(?:let's|let\\s+us|we'll|we\\s+will|we're\\s+going\\s+to|we\\s+are\\s+going\\s+to)\\s+(?:just\\s+)?(?:go\\s+(?:with|for|ahead\\s+with)|stick\\s+(?:with|to)|keep\\s+(?:it|the)|drop|skip|choose|use)\\b",
    "\\bwe're\\s+going\\s+with\\b|\\bwe\\s+are\\s+going\\s+with\\b",
    "\\b(?:the\\s+)?(?:motion|proposal|amendment)\\s+(?:is|was)\\s+(?:carried|agreed|approved|accepted|rejected)\\b",
    "\\b(?:we|i)(?:'ve|\\s+have|\\s+all)*\\s+(?:\\w+ly\\s+)?(?:approved|signed\\s+off)\\b",
    // Not "what has been approved already", which somebody only refers to.
    "(?<!\\b(?:that|what|which)\\s)\\b(?:is|are|was|were|has\\s+been|have\\s+been)\\s+(?:approved|signed\\s+off)\\b",
  ].join("|"),
  "iu",
);
const UNDECIDED =
  /\b(?:not|never|haven't|hasn't|didn't|don't|yet\s+to|if|whether|before|until|should\s+we|did\s+we|have\s+we)\b[^.]*\b(?:decid|agre|settl|chos|conclu|decision)/iu;
const CUE_TERMS: ReadonlySet<string> = new Set(
  toTerms(
    "decided decision agreed settled chose chosen concluded made make take reached final",
    true,
  ),
);

/** Decisions, in the speakers' own words. English patterns only. */
export function* listDecisions(text: SpokenText): Generator<number, SummaryDraft> {
  if (!text.english) return englishOnly("Decisions", text);
  const found: Sentence[] = [];
  const items: SummaryItem[] = [];
  for (const sentence of text.sentences) {
    if (sentence.index % STEP === STEP - 1) yield sentence.index / text.sentences.length;
    if (!isDecision(sentence.clear, sentence.terms) || items.length >= MAX_ITEMS) continue;
    // Whoever says it again corrects himself.
    if (isSaidAgain(found.at(-1), sentence)) items.pop();
    found.push(sentence);
    items.push(quote(sentence, true));
  }
  if (items.length === 0) return nothing("No decisions were found.");
  return toList(items, (item) => `${item.text} (${item.speaker})`);
}

function isDecision(spoken: string, terms: readonly string[]): boolean {
  const text = spoken.replaceAll("’", "'");
  if (!DECIDED.test(text) || UNDECIDED.test(text) || text.trimEnd().endsWith("?")) return false;
  // "We have made the decision" alone does not state the decision.
  return terms.filter((term) => !CUE_TERMS.has(term)).length >= MIN_TERMS;
}
