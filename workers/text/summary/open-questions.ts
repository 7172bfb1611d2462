import { isQuestion } from "../../../src/language/sentences.ts";
import type { SummaryItem } from "../../../src/wire/gen/voice/v1/text.ts";
import { polish } from "../language/polish.ts";
import { isBroken } from "./readability.ts";
import type { Sentence, SpokenText } from "./spoken-text.ts";
import { englishOnly, nothing, quote, type SummaryDraft, toList } from "./summary-draft.ts";

const STEP = 100;
const MAX_ITEMS = 50;
const MIN_TERMS = 2;
/** Longer sentences wander, and a cue in them says little. */
const MAX_WORDS = 45;
/** So many sentences after a question are looked at for its answer. */
const REPLIES = 3;

const WHAT = "(?:whether|if|how|who|whom|when|where|what|which|why)";
/** Says that something is not known or decided. */
const OPEN = new RegExp(
  [
    "\\bopen\\s+(?:question|issue|point)s?\\b",
    "\\b(?:still|yet)\\s+(?:need|have|has|needs)?\\s*to\\s+(?:decide|find\\s+out|clarify|figure\\s+out|work\\s+out|be\\s+(?:decided|clarified|determined|seen))\\b",
    "\\b(?:need|have)\\s+to\\s+(?:find\\s+out|clarify|figure\\s+out)\\b",
    `\\b(?:i|we)\\s+(?:\\w+\\s+)?do(?:n't|\\s+not)\\s+know\\s+(?:yet|${WHAT})\\b`,
    `\\b(?:nobody|no\\s+one)\\s+knows\\s+(?:yet|${WHAT})\\b`,
    `\\bnot\\s+(?:yet\\s+)?(?:decided|clear|certain)\\s*(?:yet|${WHAT})\\b`,
    "\\bhave(?:n't|\\s+not)\\s+(?:yet\\s+)?decided\\b",
    "\\bremains\\s+(?:open|unclear|to\\s+be\\s+seen)\\b",
  ].join("|"),
  "iu",
);
/** Says in other words that somebody may know, or that it matters little. */
const NOT_OPEN = new RegExp(
  [
    `\\bi\\s+(?:\\w+\\s+)?do(?:n't|\\s+not)\\s+know\\s+${WHAT}\\s+(?:you|i)\\b`,
    `\\bknow\\s+(?:if|whether)\\b.*\\bbut\\b`,
    "\\b(?:my|next|this)\\s+question\\b",
  ].join("|"),
  "iu",
);
/** Replies that leave a question open. */
const UNKNOWING =
  /\b(?:(?:do(?:n't| not)|dunno) know|no idea|not (?:really )?(?:sure|certain|clear)|good question|(?:we|i)(?:'ll| will| have to| need to) (?:see|check|find out|look into|ask)|depends|come back to (?:that|this|it)|not yet)\b/iu;
/** Asked in passing, about the conversation itself. */
const IN_PASSING =
  /^(?:(?:ok|okay|so|right|well|and|um|uh),?\s+)*(?:you know|right|what do you (?:think|mean)|any(?:thing| other)? (?:else|questions?)|can i(?: just)? (?:ask|note|propose|say)|are (?:all|members|people|we|you) (?:agreed|content|fine|happy|ok|okay)|would you like to|does (?:that|anybody|anyone)|is that (?:ok|okay|right|it|clear)|are you (?:ready|done|sure)|can you (?:hear|see|repeat)|shall we)\b/iu;

/**
 * What nobody answered: questions after which the others only said that they do not know or said
 * nothing, and sentences that name something as open. English only.
 */
export function* listOpenQuestions(text: SpokenText): Generator<number, SummaryDraft> {
  if (!text.english) return englishOnly("Open questions", text);
  const items: SummaryItem[] = [];
  for (const sentence of text.sentences) {
    if (sentence.index % STEP === STEP - 1) yield sentence.index / text.sentences.length;
    if (sentence.terms.length < MIN_TERMS || sentence.wordCount > MAX_WORDS) continue;
    if (isBroken(polish(sentence.text, true))) continue;
    const reply = isAsked(sentence) ? openReply(sentence, text.sentences) : undefined;
    if (reply === undefined && !saysOpen(sentence)) continue;
    const item = quote(sentence, true);
    const cited = [...new Set([sentence.segmentId, reply?.segmentId ?? sentence.segmentId])];
    if (items.length < MAX_ITEMS) items.push({ ...item, segmentIds: cited });
  }
  if (items.length === 0) return nothing("No open questions were found.");
  return toList(items, (item) => `${item.text} (${item.speaker})`);
}

function isAsked(sentence: Sentence): boolean {
  return asks(sentence) && !IN_PASSING.test(sentence.clear);
}

function asks({ clear }: Sentence): boolean {
  return clear.trimEnd().endsWith("?") || isQuestion(clear.toLowerCase().split(/\s+/u));
}

function saysOpen({ clear }: Sentence): boolean {
  const said = plain(clear);
  return !said.trimEnd().endsWith("?") && OPEN.test(said) && !NOT_OPEN.test(said);
}

/** The reply that leaves it open; the question itself where it was the last that was said. */
function openReply(asked: Sentence, sentences: readonly Sentence[]): Sentence | undefined {
  const after = sentences.slice(asked.index + 1);
  const others = after.filter(({ speaker }) => speaker !== asked.speaker);
  if (others.length === 0) return after.length <= REPLIES ? asked : undefined;
  // What comes after the next question replies to that.
  const next = after.findIndex((each) => each.speaker === asked.speaker && asks(each));
  return after
    .slice(0, next < 0 ? REPLIES : Math.min(next, REPLIES))
    .find(({ speaker, clear }) => speaker !== asked.speaker && UNKNOWING.test(plain(clear)));
}

function plain(text: string): string {
  return text.replaceAll("’", "'");
}
