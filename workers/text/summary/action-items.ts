import type { SummaryItem } from "../../../src/wire/gen/voice/v1/text.ts";
import { isSaidAgain, type Sentence, type SpokenText } from "./spoken-text.ts";
import { englishOnly, nothing, quote, type SummaryDraft, toList } from "./summary-draft.ts";

const DAY = "(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)";
const MONTH =
  "(?:january|february|march|april|may|june|july|august|september|october|november|december)";
const NUMBER =
  "(?:\\d+|a|an|one|two|three|four|five|six|seven|eight|nine|ten|twelve|couple of|few)";
const ORDINAL = "(?:\\d+(?:st|nd|rd|th)|first|second|third|fourth|fifth|last)";
const UNIT = "(?:minutes?|hours?|days?|weeks?|months?|quarters?|years?)";
const PART = "(?:morning|afternoon|evening|night|noon)";
const MOMENT = [
  `the ${ORDINAL} of ${MONTH}`,
  `${MONTH} (?:the )?(?:${ORDINAL}|\\d{1,2})`,
  `(?:the )?(?:end|beginning|start|middle) of (?:the|this|next) (?:day|${UNIT})`,
  `(?:the )?(?:end|beginning|start|middle) of ${MONTH}`,
  `(?:the )?${ORDINAL} week of ${MONTH}`,
  `(?:next |this )?${DAY}(?: (?:${PART}|the ${ORDINAL} of ${MONTH}))?`,
  `(?:next |this )(?:${UNIT}|${PART})`,
  `tomorrow(?: ${PART})?`,
  "tonight",
  "today",
  "noon",
  "(?:the )?next meeting",
  `\\d{1,2}(?::\\d{2})? ?(?:am|pm|o'clock)`,
  MONTH,
].join("|");
const DUE = new RegExp(
  [
    `\\b(?:by|before|until|till|on|no later than|due|at|in)(?: the)? (?:${MOMENT})\\b`,
    `\\b(?:in|within) (?:the next )?${NUMBER} ${UNIT}\\b`,
    `\\b(?:tomorrow(?: ${PART})?|tonight|today|(?:next|this) (?:${UNIT}|${DAY}|${PART})|as soon as possible|right away|asap)\\b`,
  ].join("|"),
  "iu",
);

/** The phrase for the due time, as it was spoken; undefined without one. English only. */
export function findDuePhrase(text: string): string | undefined {
  return DUE.exec(text.replaceAll("’", "'"))?.[0];
}

const STEP = 100;
const MAX_ITEMS = 50;
/** Longer sentences are not taken as commitments. */
const MAX_WORDS = 45;
/** An item must contain at least this many meaningful words, to say what is to be done. */
const MIN_TERMS = 2;

const MODAL = "(?:'ll|\\s+will|\\s+shall|'m\\s+going\\s+to|\\s+am\\s+going\\s+to|'m\\s+gonna)";
const PLURAL_MODAL = "(?:'ll|\\s+will|\\s+shall|'re\\s+going\\s+to|\\s+are\\s+going\\s+to)";
/** What is done by saying so, and what somebody only stays as. */
const SPEECH_ACT =
  "acknowledge|always|apologi[sz]e|assure|call\\s+(?:it|that|this)|commend|congratulate|emphasi[sz]e|face|get\\s+through|give\\s+(?:it|that|the\\s+floor|this)|highlight|interject|interrupt|keep\\s+(?:doing|on|up)|mention|proceed|recogni[sz]e|remain|report\\s+that|remind|resume|stress|suspend|thank|to";
/** Continuations that make no task of a promise: "I will say", "we will see", "we'll move on". */
const NO_TASK = `(?!\\s+(?:(?:all|just|also|then|now|\\p{L}+ly)\\s+)*(?:not|never|be|have|say|see|admit|assume|guess|think|know|ask|agree|disagree|stick|leave|yeah|well|like|um|uh|you|we|i|the|an?|talk\\s+about|discuss|start|begin|finish|end|stop|continue|switch|pass|move\\s+on|go\\s+(?:on|over|through|to|ahead|back|straight|now|around)|(?:turn|hand)\\s+(?:it\\s+|this\\s+|you\\s+)?over|come\\s+(?:on|back|to)|get\\s+(?:back|to|into|there)|cross\\s+that\\s+bridge|${SPEECH_ACT})\\b)`;
const MUST = "(?:need\\s+to|have\\s+to|must|should|ought\\s+to)";

/** "The time that I have to thank them" is no duty. */
const NO_CHANCE = "(?<!\\b(?:chance|moment|opportunity|time)\\s(?:that\\s)?)";

/** A request at the beginning of a sentence; one for words is answered at once. */
const ASKED_TO =
  /^(?!(?:how|what|when|where|which|who|why)\b)(?:(?:(?:and|but|so|then|ok|okay|well|please)|\p{Lu}\p{L}+),?\s+){0,2}(?:can|could|would|will)\s+you\s+(?!(?:(?:please|just|maybe)\s+)*(?:tell|assure|remind\s+(?:me|us)(?!\s+to\b)|go\s+back|not|say|see|hear|be|explain|repeat|clarify|describe|elaborate|comment|expand|outline|summari[sz]e|confirm|imagine|understand|remember|believe|talk|speak|give\s+(?:us|me)\s+an?|do|use|have|get|like)\b)\p{L}+/iu;
/** What others promised is told, not promised. */
const TOLD =
  /\b(?:he|she|they|who)\s+(?:said|told|asked|promised)\b|\b(?:said|told\s+\w+)\s+["“]/iu;

/** What comes in the same breath, or is said for its sound: a task only where a time is named. */
const NO_PROMISE =
  /\b(?:assure|assurances?|commitment|endeavou?r)\b|^let\s+(?:me|us)\s+be\s+clear\b|\blet\s+me\s+(?:ask\s+(?:an?|another|my|the|this|you)\b|bring\s+up|make\s+(?:a\s+proposal|it\s+clear)|talk\s+(?:about|broadly))|\bwe(?:'ll|\s+will|(?:'re|\s+are)\s+going\s+to)\s+(?:\p{L}+ly\s+)?(?:do\s+(?:everything|it|that|this)|ensure|work\s+(?:very\s+)?hard)\b|\bi(?:'ll|\s+will|\s+shall|'m\s+(?:going\s+to|gonna))\s+(?:(?:now|first|just|\p{L}+ly)\s+)*(?:(?:describe|explain|list|present)\b(?!.*\bto\s+(?!do\b|you\b)\p{L})|give\s+an?\s+(?:\p{L}+\s+)?(?:presentation|talk)|speak\s+about|(?:show|tell)\s+you)\b/iu;

type Owner = "speaker" | "all" | "listener";

interface Cue {
  owner: Owner;
  pattern: RegExp;
  /** True for a pattern that needs a due time, because alone it is often no task. */
  needsDue?: true;
}

/** The first matching pattern decides who owns the task. */
const CUES: readonly Cue[] = [
  { owner: "speaker", pattern: new RegExp(`\\bi${MODAL}${NO_TASK}\\s+\\w+`, "iu") },
  {
    owner: "speaker",
    pattern: new RegExp(`${NO_CHANCE}\\bi\\s+${MUST}${NO_TASK}\\s+\\w+`, "iu"),
  },
  {
    owner: "speaker",
    pattern:
      /\b(?:i\s+(?:promise|plan)\s+to|let\s+me|i\s+can)\s+(?:send|write|call|ask|check|take|prepare|look|find|talk|bring|finish|fix|set|make|get|do)\b/iu,
  },
  {
    owner: "speaker",
    pattern: /\byou(?:'ll|\s+will|\s+shall)\s+(?:have|get|receive|hear)\b/iu,
    needsDue: true,
  },
  {
    owner: "listener",
    pattern: ASKED_TO,
  },
  { owner: "listener", pattern: new RegExp(`\\byou\\s+${MUST}\\s+\\w+`, "iu"), needsDue: true },
  {
    owner: "all",
    pattern: new RegExp(`\\bwe\\s+(?:all\\s+)?${MUST}\\s+\\w+`, "iu"),
    needsDue: true,
  },
  { owner: "all", pattern: new RegExp(`\\bwe${PLURAL_MODAL}${NO_TASK}\\s+\\w+`, "iu") },
  { owner: "all", pattern: /\b(?:action\s+(?:item|point)|to-?do|follow[\s-]up)\b/iu },
];
const WONDERING = /\b(?:if|whether|when|unless)\s+(?:i|we|you)\b|\bwonder(?:ing)?\b/iu;

/**
 * Tasks that people said they or others would do, with owner and due time. English patterns only.
 */
export function* listActionItems(text: SpokenText): Generator<number, SummaryDraft> {
  if (!text.english) return englishOnly("Action items", text);
  const names = new Set(text.segments.map(({ speaker }) => speaker));
  const found: Sentence[] = [];
  const items: SummaryItem[] = [];
  for (const sentence of text.sentences) {
    if (sentence.index % STEP === STEP - 1) yield sentence.index / text.sentences.length;
    const owner = findOwner(sentence, names);
    if (owner === undefined || items.length >= MAX_ITEMS) continue;
    // Whoever says it again corrects himself.
    if (isSaidAgain(found.at(-1), sentence)) items.pop();
    found.push(sentence);
    items.push({ ...quote(sentence, true), owner, due: findDuePhrase(sentence.clear) });
  }
  return items.length === 0 ? nothing("No action items were found.") : toList(items, toLine);
}

function findOwner(sentence: Sentence, names: ReadonlySet<string>): string | undefined {
  const { speaker, terms, wordCount } = sentence;
  const text = sentence.clear.replaceAll("’", "'");
  if (terms.length < MIN_TERMS || wordCount > MAX_WORDS) return undefined;
  const named = findNamed(text, names);
  if (named !== undefined) return named;
  const hasDue = findDuePhrase(text) !== undefined;
  const cue = CUES.find(
    ({ pattern, needsDue }) => (hasDue || needsDue === undefined) && pattern.test(text),
  );
  if (!hasDue && NO_PROMISE.test(text)) return undefined;
  if (cue === undefined || WONDERING.test(text) || TOLD.test(text)) return undefined;
  if (cue.owner !== "listener" && text.trimEnd().endsWith("?")) return undefined;
  if (cue.owner === "speaker") return speaker;
  return cue.owner === "all" ? "everybody" : `whom ${speaker} asked`;
}

/** The name of a speaker in "Ben will write …" or "Ben, can you …". */
function findNamed(text: string, names: ReadonlySet<string>): string | undefined {
  const lower = text.toLowerCase();
  for (const name of names) {
    for (const form of new Set([name, name.split(" ")[0] ?? name])) {
      const at = lower.indexOf(form.toLowerCase());
      const isWord = at === 0 || (at > 0 && /[\s,]/u.test(lower.charAt(at - 1)));
      if (!isWord) continue;
      const rest = lower.slice(at + form.length);
      if (/^,?\s+(?:will|should|needs\s+to|has\s+to|must)\s+(?!be\b)\w+/u.test(rest)) return name;
      if (/^,?\s+(?:can|could|would|will)\s+you\s+\w+/u.test(rest)) return name;
    }
  }
  return undefined;
}

function toLine({ text, owner, due }: SummaryItem): string {
  return due === undefined ? `${owner}: ${text}` : `${owner}: ${text} (${due})`;
}
