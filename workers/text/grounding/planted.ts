import type { CitedUtterance } from "./evidence.ts";
import { People } from "./people.ts";
import { toTokens } from "./tokens.ts";

const MACHINE =
  "(?:a\\.?i\\.?(?: assistant| model)?|assistant|chat\\s?bot|robot|bot|computer|chatgpt|gpt|claude|gemini|copilot|siri|alexa|language models?|llm|summari[sz]er|notes?[- ]?taker(?: bot)?|model (?:that|which) (?:is )?read(?:s|ing) this)";

/** Verbs by which somebody is told what to write or to say. */
const DICTATES =
  "(?:write|print|output|note|put down|list|mention|state|conclude|claim|insert|repeat|translate|praise|mark|declare|announce|summari[sz]e|respond|reply|answer|rephrase|reveal|omit|leave out|say|report|record|add|include|append|inject|overwrite|execute|return|finish|call)";

/**
 * An order to write or to say: at the beginning of a clause, where English has its imperatives. People are
 * told so too ("please note that …"), and then it is theirs all the same: what somebody is told to write is
 * not what happened.
 */
const ORDER = new RegExp(
  `(?:^|[.!?;:,]\\s*|\\b(?:please|kindly|instead|now|only|just|and|then)\\s+)(?:only\\s+|just\\s+|now\\s+|please\\s+)?${DICTATES}\\b(?!\\s+(?:is|was|are|were)\\b)`,
  "iu",
);

/** What is said to a machine that reads along, or to whoever writes. */
const TO_A_MACHINE: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override|bypass|discard|drop|scrap)\b.{0,40}\b(?:instructions?|prompts?|rules|guidelines|directions|message|above|before)\b/iu,
  /\b(?:system|developer|assistant)\s*(?:prompt|message|override|command|mode)s?\b/iu,
  /\b(?:new|updated|following|hidden|secret|previous|real)\s+(?:instructions?|task|goal|prompt)\b/iu,
  /\b(?:you are|you're|act as|pretend to be|behave as|from now on you)\b.{0,40}\b(?:ai|assistant|bot|language model|summari[sz]er|automated|reprogrammed|unrestricted)\b/iu,
  new RegExp(
    `\\b(?:dear|hey|hello|hi|attention|note to|message to|instruct|instructions? (?:to|for)|as|to|for)\\s*,?\\s+(?:the\\s+|any\\s+|an?\\s+)?${MACHINE}\\b`,
    "iu",
  ),
  new RegExp(
    `\\b(?:the|any|this|whatever|every)\\s+${MACHINE}\\b.{0,40}\\b(?:must|should|shall|has to|needs to|is to)\\b`,
    "iu",
  ),
  new RegExp(`^\\W*(?:\\w+\\s+)?${MACHINE}\\s*[,:]`, "iu"),
  /\byour\s+(?:\w+\s+){0,2}(?:summary|output|response|answer|notes|minutes|prompt|instructions|configuration|guidelines|task|goal)\b/iu,
  /\b(?:when|while|if|as)\s+(?:you\s+)?(?:summari[sz]e|summari[sz]ing|writing (?:the|your) (?:summary|notes))\b/iu,
  /\b(?:the|this|our)\s+(?:recap|protocol|minutes|notes|summary|transcript)\s+(?:above|says?|contains?|must|should|has to|to say)\b/iu,
  /\b(?:any|whatever|every)\s+(?:software|program|machine|model)\b/iu,
  /\b(?:end|begin|start) of (?:the\s+)?(?:transcript|conversation|data|document|context)\b/iu,
  /\bautomat(?:ic|ed|ically)\b.{0,30}\b(?:minutes|notes|summary|summari[sz]\w+|transcript)\b|\bwrit\w+ this up\b/iu,
  /"role"\s*:/iu,
  /<\|?\/?\w+\|?>|\[\/?INST\]|<<\/?SYS>>|^\s*(?:#+\s*)?(?:system|assistant|user)\s*:/iu,
];

/** So many utterances of the same speaker right after such a one go on with it. */
const GOES_ON = 2;

/** True for a text that speaks to a machine that reads along, by its words. */
export function speaksToMachine(text: string): boolean {
  return TO_A_MACHINE.some((pattern) => pattern.test(text));
}

/**
 * Which of the utterances, in order, speak to a machine that reads along, order somebody to write or to say
 * something, or go on with that.
 */
export function findOrders(utterances: readonly CitedUtterance[]): boolean[] {
  let left = 0;
  let by: string | undefined;
  return utterances.map(({ speaker, text }) => {
    if (ORDER.test(text) || speaksToMachine(text)) {
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
