import { foldWord } from "./words.ts";

/** The kind of answer that a question asks for. */
export type Intent =
  | "lookup"
  | "who"
  | "count"
  | "when"
  | "voices"
  | "overview"
  | "decisions"
  | "actions"
  | "sessions";

const SESSIONS = "(sessions?|meetings?|conversations?|calls?|recordings?)";
const DONE = "(decided?|agreed?|decide on|agree on)";

const VOICES = "(?:people|persons|speakers?|voices?|participants?|attendees|of (?:them|us))";
const PRESENT =
  "(?:speak\\w*|spoke\\w*|talk\\w*|attend\\w*|participat\\w*|(?:take|took|taking) part|present|involved|in (?:this|the) (?:one|room|meeting|conversation|recording|call|session)|can (?:i|you|we) hear|(?:are|were) (?:there|here|heard))";
const COUNTS_VOICES = new RegExp(
  `\\bhow many (?:different |distinct )?${VOICES}\\b(?:\\W*$|(?=.*\\b${PRESENT}\\b))(?!.*\\b(?:about|of that)\\b)`,
);

/** True when the question, in small letters, asks how many people took part. */
export function countsVoices(folded: string): boolean {
  return COUNTS_VOICES.test(folded);
}

const PATTERNS: readonly (readonly [Intent, RegExp])[] = [
  ["sessions", new RegExp(`\\b(which|what|how many) (of (the|my|our) )?${SESSIONS}\\b`)],
  [
    "voices",
    /\b(who (spoke|talked|was there|were there|was present|attended|participated|took part|is speaking)\b(?! about| of)|how many (people|speakers|voices|participants|persons)|(who|which speaker|which person) (spoke|talked|said) (the )?(most|least)|list (of )?(the )?(speakers|participants|attendees))/,
  ],
  ["voices", COUNTS_VOICES],
  ["count", /\b(how (many times|often)|number of times|how frequently)\b/],
  [
    "actions",
    /\b(action items?|to-?dos?|next steps?|follow-?ups?|tasks?|promis(e|es|ed)|commitments?|committed to|who (will|should|has to|needs to|is going to) do what)\b/,
  ],
  [
    "decisions",
    new RegExp(
      `\\b(what (was|were|got|is|has been|have they|did (they|we|the group|the team|everyone)) ?${DONE}|decisions?|conclusions?)\\b`,
    ),
  ],
  [
    "overview",
    new RegExp(
      `\\b(summari[sz]e|summary|overview|what (was|is) (it|this|that|the ${SESSIONS}|the discussion) (all )?about|main (points|topics))\\b`,
    ),
  ],
  ["who", /^\W*(who|whose|which (person|speaker|participant|people))\b/],
  ["when", /^\W*(when|what time|at what time|on (what|which) (day|date)|what date|which day)\b/],
];

/** Words that ask for tasks and promises, and so do not count as topic. */
const TASK_WORDS = new Set(
  "action actions item items to-do todo todos task tasks next step steps follow followup ups promise promises promised commitment commitments committed".split(
    " ",
  ),
);

const NUMBER = "(?:a|one|two|three|four|five|six|seven|eight|nine|ten|a few|some|\\d+)";
/** What a summary is to look like, which is no topic: "in three bullet points", "a short summary". */
const FORM = new RegExp(
  `\\b(?:(?:in|into|as|with) (?:(?:at most|no more than|about) )?(?:${NUMBER} )?(?:(?:short|brief|key|main|bullet|numbered) )*(?:sentences?|paragraphs?|bullets?|points?|lines?|words|list)|(?:short|brief|quick)(?= (?:summary|overview)\\b)|briefly|shortly)\\b`,
  "g",
);

/** "How often is the word budget used" counts the budget. */
const NAMING = /^(?:words?|terms?|names?|phrases?|expressions?)$/i;

function withoutNaming(topic: readonly string[]): string[] {
  const rest = topic.filter((word) => !NAMING.test(word));
  return rest.length > 0 ? rest : [...topic];
}

interface ReadIntent {
  intent: Intent;
  words: string[];
}

/** Finds the intent of a question, and its topic without the words of the intent. */
export function readIntent(text: string, topic: readonly string[]): ReadIntent {
  const folded = text.toLowerCase().replace(/\s+/g, " ");
  const intent = PATTERNS.find(([, pattern]) => pattern.test(folded))?.[0] ?? "lookup";
  const isTasks = intent === "actions";
  if (intent === "count") return { intent, words: withoutNaming(topic) };
  const words = topic.filter((word) => !isOfWish(foldWord(word), intent, folded));
  if (words.length === 0) return { intent: intent === "lookup" ? "overview" : intent, words };
  // "Summarise the discussion about the price" asks about the price.
  const isBroad = intent === "overview" || intent === "decisions" || isTasks;
  return { intent: isBroad ? "lookup" : intent, words };
}

/** True for a word of the wish itself, which says nothing of what it is about. */
function isOfWish(word: string, intent: Intent, question: string): boolean {
  if (intent === "actions") return TASK_WORDS.has(word);
  if (intent !== "overview") return false;
  return (question.match(FORM) ?? []).some((form) => form.split(" ").includes(word));
}
