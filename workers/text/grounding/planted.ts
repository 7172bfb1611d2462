import type { CitedUtterance } from "./evidence.ts";
import { People } from "./people.ts";
import { toTokens } from "./tokens.ts";

const MACHINE =
  "(?:a\\.?i\\.?(?: assistant| model)?|assistant|chat\\s?bot|bot|language model|llm|summari[sz]er|notes?[- ]?taker(?: bot)?|model (?:that|which) (?:is )?read(?:s|ing) this)";

/** What is said to a machine that reads along, not to anybody present. */
const TO_A_MACHINE: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override|bypass|discard|drop)\b.{0,40}\b(?:instructions?|prompts?|rules|guidelines|directions|system message|everything (?:above|before)|above)\b/iu,
  /\b(?:system|developer|admin(?:istrator)?|assistant|user)\s*(?:prompt|message|override|note|instruction|command|mode)s?\b/iu,
  /\b(?:new|updated|following|hidden|secret|important)\s+instructions?\b/iu,
  /\b(?:you are|you're|act as|pretend to be|behave as|role ?play as|from now on you)\b.{0,40}\b(?:ai|assistant|model|bot|dan|system|summari[sz]er|interpreter|terminal)\b/iu,
  new RegExp(
    `\\b(?:dear|hey|hello|hi|attention|note to|message to|instructions? (?:to|for))\\s+(?:the\\s+|any\\s+)?${MACHINE}\\b`,
    "iu",
  ),
  new RegExp(
    `\\b(?:the|any|this|whatever|every)\\s+${MACHINE}\\b.{0,40}\\b(?:must|should|shall|has to|needs to|is to|will now|now)\\b`,
    "iu",
  ),
  new RegExp(`^\\W*${MACHINE}\\s*[,:]`, "iu"),
  /\b(?:output|respond|reply|answer)\s+(?:only|exactly|with|in|nothing)\b/iu,
  /\b(?:write|print|put|add|insert|include|append|state|say|claim|report)\b.{0,30}\b(?:in|into|to)\s+(?:the|your|these|this|all)\s+(?:summar(?:y|ies)|output|response|answer)\b/iu,
  /\b(?:your|the)\s+(?:summary|output|response|answer)\s+(?:must|should|shall|has to|needs to|will|is)\b/iu,
  /\b(?:when|while|if|as)\s+(?:you\s+)?(?:summari[sz]e|summari[sz]ing|writing (?:the|your) (?:summary|notes))\b/iu,
  /\b(?:end|begin|start) of (?:the\s+)?(?:transcript|conversation|data|document|context)\b/iu,
  /<\|?\/?\w+\|?>|\[\/?INST\]|<<\/?SYS>>|^\s*(?:#+\s*)?(?:system|assistant|user)\s*:/iu,
];

/** So many utterances of the same speaker right after such a one go on with it. */
const GOES_ON = 2;

/** Which of the utterances, in order, speak to a machine that reads along, or go on with that. */
export function findOrders(utterances: readonly CitedUtterance[]): boolean[] {
  let left = 0;
  let by: string | undefined;
  return utterances.map(({ speaker, text }) => {
    if (TO_A_MACHINE.some((pattern) => pattern.test(text))) {
      left = GOES_ON;
      by = speaker;
      return true;
    }
    left = speaker === by ? left - 1 : 0;
    return left >= 0 && speaker === by;
  });
}

const SAYS = new Set(
  "said says told tells asked asks wrote mentioned stated demanded ordered requested instructed".split(
    " ",
  ),
);

/**
 * The speaker of whom a sentence tells that they said something: "Ben asked to …". Only so may notes tell of an
 * utterance that speaks to a machine; what it orders is no fact of the conversation.
 */
export function findReporter(text: string, speakers: readonly string[]): string | undefined {
  const tokens = toTokens(text);
  const [first] = new People(speakers).find(tokens);
  const isReport = first?.from === 0 && SAYS.has(tokens[first.to]?.word ?? "");
  return isReport ? first.speaker : undefined;
}
