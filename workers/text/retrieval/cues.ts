import type { Measure } from "./plain-question.ts";
import { isQuestion } from "./select.ts";

const WE = "\\b(?:we|they|i|everyone|everybody|the team|the group)(?:['’]ve| have| had)?";
const TAKE = "(?:go (?:with|for)|use|take|keep|drop|choose|pick|open|make it|do that|do it)";
const DECIDED = new RegExp(
  `${WE} (?:just |all |already |also )?(?:decided|agreed|settled|made (?:the|a|our) decision|chose|concluded)\\b|\\b(?:that|it|this)(?:['’]s| is| was) (?:decided|settled|agreed)\\b|\\b(?:decision|agreement) (?:is|was|that|to)\\b|\\bagreed (?:is|was|that|to|on)\\b`,
  "i",
);
const CHOSEN = new RegExp(
  `\\bso we(?:['’]ll| will|['’]re going to)? (?:use|take|choose|keep|drop|have|need)\\b|\\b(?:let['’]?s|let us) ${TAKE}\\b|\\bwe(?:['’]ll| will| are (?:going to|gonna)|['’]re (?:going to|gonna)) ${TAKE}\\b|\\bi agree with (?:this|that|the) decision\\b`,
  "i",
);
const SETTLED =
  /\bwe(?:['’]re| are)? (?:just |only |now )?(?:use|using|take|taking|looking at|going for|aiming (?:at|for)|sticking (?:to|with))\b|\b(?:no longer|not necessary|any ?more)\b/i;
const UNDECIDED =
  /\b(?:haven['’]?t|hasn['’]?t|have not|has not|not|never|\w+n['’]t)(?: yet| been| really)* (?:decided|agreed|settled|clear yet|resolved)\b|\b(?:undecided|unresolved|open (?:question|issue|point)s?|up in the air)\b|\bto be (?:decided|discussed|determined|confirmed|clarified)\b/i;
const UNKNOWN =
  /\b(?:don['’]?t|do not|didn['’]?t|doesn['’]?t) (?:really |yet )?know (?:yet|if|whether|how|what|when|who)\b|\bnot (?:really )?(?:sure|clear) (?:yet|if|whether|how|what|when|who)\b|\b(?:still|need to|needs to|have to|has to|must|should)\b(?: \w+){0,2} (?:find out|check|decide|figure out|clarify|look into|be seen)\b/i;
const SUPPOSED = /\b(?:if|unless|whether|once) (?:we|they|you|i)\b/i;
const PROPOSED =
  /\b(?:why (?:don['’]?t|not) we|how about|what about|maybe (?:we|you)|perhaps|we (?:could|should|might|can)|i (?:would )?(?:suggest|propose|recommend)|i think we|let['’]?s|let us|shall we|my (?:idea|suggestion))\b/i;
const AGREED =
  /^(?:(?:oh|well|okay|ok|and),? )?(?:yeah|yes|yep|exactly|right|sure|agreed|i agree|good idea|absolutely|definitely|true|i think so|me too)\b|\b(?:agree|good idea|fine with me|you(?:['’]re| are) right)\b/i;
const DISAGREED =
  /\b(?:disagree|don['’]?t (?:think|agree|like|want)|do not (?:think|agree|like|want)|not (?:a good|so sure|convinced)|i(?:['’]m| am) against|should wait|rather not|too (?:early|late|expensive|risky)|object(?:ion)?|i(?:['’]m| am) not sure)\b|^(?:no|but)\b/i;
const LIKED =
  /\b(?:i|we|my)(?:['’]d| would|['’]ve)? (?:\w+ )?(?:like|love|prefer|want|enjoy|loved|liked|preferred|fond|favou?rites?)\b/i;
const PROMISED =
  /\b(?:i|we|you|he|she|they)(?:['’]ll| will| shall| must| need to| have to| has to|['’]m going to|['’]re going to| am going to| are going to| should)\b/i;
const MONTHS =
  "january|february|march|april|june|july|august|september|october|november|december|in may|of may|may \\d";
const WEEKDAYS = "(?:mon|tues|wednes|thurs|fri|satur|sun)days?";
const COUNTED =
  "\\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|fifteen|twenty|thirty|forty|fifty|half an|a few|a couple of";
const DATED = new RegExp(
  `\\b(?:${WEEKDAYS}|${MONTHS}|today|tomorrow|tonight|yesterday|noon|midnight|o['’]?clock|\\d{1,2}(?::\\d{2})? ?[ap]\\.?m|\\d{1,2}:\\d{2}|(?:19|20)\\d\\d|(?:next|this|last|coming) (?:week|month|year|spring|summer|autumn|winter|quarter|morning|afternoon|evening)|(?:in|after|within|for|about) (?:about |another )?(?:${COUNTED}) (?:second|minute|hour|day|week|month|year)s?|(?:end|beginning|middle) of (?:the|this|next) (?:day|week|month|year)|lunch ?time|after lunch|(?:by|at|before|after|until|in) (?:the |our )?(?:next|following) (?:meeting|session|call|class|one)|as soon as|the day (?:before|after)|(?:at|by|until|till|before) (?:${COUNTED}|eleven|twelve)(?= |$|[.,?!])(?! of\\b))`,
  "i",
);
const NUMBERED =
  /\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|billion|dozen|half|couple|both|none|nobody|no one|single|zero|percent)\b|\bone\b(?! (?:of|that|thing|more))/i;
const AMOUNT =
  "(?:\\d[\\d,.]*|(?:a )?half an?|an?|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|billion|and a half|half)(?:[ -](?:one|two|three|four|five|six|seven|eight|nine|hundred|thousand|million|billion|and a half))*)";
const TIME_UNIT = "(?:seconds?|minutes?|mins?|hours?|days?|weeks?|months?|years?)";
const LASTING = new RegExp(`\\b${AMOUNT}[ -](?:more |another )?${TIME_UNIT}\\b`, "i");
const MONEY_UNIT =
  "(?:euros?|dollars?|pounds?|quid|bucks?|cents?|pence|francs?|p|k|m|bn|million pounds)";
const PRICED = new RegExp(
  `[£$€] ?\\d|\\b${AMOUNT} ?${MONEY_UNIT}\\b|\\b(?:euros?|dollars?|pounds?) ${AMOUNT}\\b`,
  "i",
);
const MEASURED = new RegExp(
  `[£$€] ?\\d[\\d,.]*|\\b${AMOUNT}[ -]?(?:more |another )?(?:${TIME_UNIT}|${MONEY_UNIT}|per ?cents?|percents?|%)(?!\\w)`,
  "gi",
);
const DUE =
  /\b(?:due|deadline|by (?:then|the|next|\w+day|when)|until|no later|at the latest|(?:has|have|need|needs) to (?:be|have|get|hand|send|finish|submit)|ready|finished|done)\b/i;
const ALLOTTED =
  /\b(?:have|['’]ve|got|only|total|left|take|lasts?|until|for (?:this|the) meeting|meeting)\b/i;
const NAMED =
  /\b(?:[Mm]y name(?:['’]s| is)|(?:[Cc]all me|I am called)) (?!not\b)\w+|\b[Ii](?:['’]m| am) \p{Lu}\p{Ll}+(?=[,.]|$| and\b)/u;
const NEXT =
  /\bnext (?:meeting|session|call|time)\b|\b(?:meet|meeting|see (?:you|each other)|talk|reconvene|continue|get together)\b.*\b(?:again|next (?:week|month|time)|tomorrow|in (?:\w+ ){1,5}(?:minutes?|hours?)|(?:next )?(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b/i;
const NEXT_NAMED = /\bnext (?:meeting|session|call)\b/i;
const BEGINNING =
  /\b(?:(?:start|begin|starting|beginning) with|first (?:topic|thing|item|point|of all)|talk about|agenda|(?:meeting|call) (?:is )?about)\b/i;

/** What a sentence does, by its words. English. */
export const CUES = {
  agreement: AGREED,
  beginning: BEGINNING,
  date: DATED,
  disagreement: DISAGREED,
  liking: LIKED,
  number: NUMBERED,
  promise: PROMISED,
  proposal: PROPOSED,
} as const;

/** How well a sentence tells an amount, 0..2: one of the measure, another, none. */
export function statesAmount(clear: string, measure: Measure | undefined): number {
  if (!NUMBERED.test(clear)) return measure === "time" && LASTING.test(clear) ? 2 : 0;
  if (measure === undefined) return 2;
  if (measure === "time") return LASTING.test(clear) ? 2 : 0.6;
  if (measure === "money") return PRICED.test(clear) ? 2 : 1.2;
  return NUMBERED.test(clear.replace(MEASURED, " ")) ? 2 : 0.6;
}

/** How surely a sentence tells how much time there is, 0..2. */
export function statesAllotted(clear: string): number {
  if (!LASTING.test(clear)) return 0;
  return ALLOTTED.test(clear) ? 2 : 1;
}

/** How surely a sentence tells the name of its speaker, 0..2. */
export function statesName(clear: string): number {
  return NAMED.test(clear) ? 2 : 0;
}

/** How surely a sentence tells until when something has to be done, 0..2. */
export function statesDeadline(clear: string): number {
  if (!DATED.test(clear)) return 0;
  return /\b(?:due|deadline)\b/i.test(clear) ? 2 : DUE.test(clear) ? 1 : 0;
}

/** A short sentence that confirms what was said before it, as in "that is decided". */
const CONFIRMS =
  /\b(?:that|it|this)(?:['’]s| is| was) (?:decided|settled|agreed)\b|\bi agree with (?:this|that|the) decision\b/i;
const SHORT = 8;

export function confirms(clear: string): boolean {
  return CONFIRMS.test(clear) && clear.split(" ").length <= SHORT;
}

/** How surely a sentence tells of a decision, 0..2. */
export function statesDecision(clear: string): number {
  if (UNDECIDED.test(clear) || SUPPOSED.test(clear) || isQuestion(clear)) return 0;
  if (DECIDED.test(clear)) return 2;
  return CHOSEN.test(clear) ? 1 : 0;
}

/** How surely a sentence about a known topic tells what was decided of it, 0..2. */
export function statesChoice(clear: string): number {
  return Math.max(statesDecision(clear), !isQuestion(clear) && SETTLED.test(clear) ? 0.7 : 0);
}

/** How surely a sentence tells when the next meeting is, 0..2. */
export function statesNext(clear: string): number {
  if (!NEXT.test(clear)) return 0;
  if (DATED.test(clear) || LASTING.test(clear)) return NEXT_NAMED.test(clear) ? 2 : 1.5;
  return NEXT_NAMED.test(clear) ? 0.5 : 0;
}

/** How surely a sentence tells of a matter that is not settled, 0..2. */
export function statesOpen(clear: string): number {
  if (UNDECIDED.test(clear)) return 2;
  return UNKNOWN.test(clear) ? 1 : 0;
}
