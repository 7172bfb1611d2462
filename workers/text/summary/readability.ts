import { compromise } from "../../../src/language/compromise.ts";

const PERSON = "(?:I|we|you|he|she|they)";

/** Where a speaker gave up a clause and began another: what stands before it leads nowhere. */
const BROKEN: readonly RegExp[] = [
  // "would there not be a we'd have to", "cluster the just do some"
  new RegExp(`\\b(?:a|an|the)\\s+(?:${PERSON}|it)(?:'\\p{L}+)?(?=[\\s,])`, "u"),
  /\b(?:a|an|the)\s+(?:a|an|the|this|that|these|those|to|of|is|are|was|and|but|if|or|just|yeah)(?=[\s,])/u,
  // "the thing with I see": "you" and "it" may stand there
  /\b(?:at|for|from|in|of|on|with)\s+(?:I|we|he|she|they)(?:'\p{L}+)?\s/u,
  // "go from there What you really want": a capital begins a sentence, or a name of several words
  /\p{Ll}\s(?:And|But|How|If|It|It's|Let's|Or|So|That|That's|There|They|We|We're|What|When|Which|Why|You)\s(?!\p{Lu})/u,
  // "I'll, the next experiment is", "we'll may go on"
  /\b\p{L}+'ll,?\s+(?:a|an|can|he|I|it|may|she|the|they|we|will)\b/u,
  // what is left of a word
  /(?:^|\s)(?:[b-hj-z]|[bcfgpstw][hlr]|sp|st)(?=[\s,])/u,
  /^[B-HJ-Z]\s+(?:I\b|\p{Ll})/u,
];

/** True where a spoken sentence, as it would be written, was begun anew in its midst. English only. */
export function isBroken(written: string): boolean {
  const text = written.replaceAll("’", "'");
  return BROKEN.some((pattern) => pattern.test(text));
}

const BROKEN_SHARE = 0.4;
/** A question tells nothing of the answer. */
const QUESTION_SHARE = 0.5;
/** What breaks off, or is no sentence, as nothing is said of what it names. */
const FRAGMENT_SHARE = 0.4;
/** A clause that hangs on what stood before it. */
const LEANING =
  /^(?:(?:that )?(?:because|than|unless|which)|or|that (?:I|if|we|you)|to because)\b/iu;
const LEANING_SHARE = 0.6;
/** Somebody counts aloud. */
const COUNTING =
  /(?:\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty)\b[\s,]*){4}/iu;

/** With these something is said; names and plain verbs take a look at the classes of the words. */
const SAYS =
  /\b(?:am|are|can|could|did|do|does|had|has|have|is|let's|may|might|must|shall|should|was|were|will|would|ain't|\p{L}+n't)\b|'(?:d|ll|m|re|ve)\b|\b(?:he|here|how|it|she|that|there|this|what|where|who)'s\b/iu;

/**
 * How well a sentence, as it would be written, reads where nothing stands before and after it: 1, or less.
 * English; takes a millisecond.
 */
export function readability(written: string): number {
  const text = written.replaceAll("’", "'");
  let share = 1;
  if (isBroken(text)) share *= BROKEN_SHARE;
  if (text.endsWith("?")) share *= QUESTION_SHARE;
  if (LEANING.test(text)) share *= LEANING_SHARE;
  if (text.endsWith("…") || COUNTING.test(text) || !saysSomething(text)) share *= FRAGMENT_SHARE;
  return share;
}

function saysSomething(text: string): boolean {
  if (SAYS.test(text)) return true;
  return compromise()(text).not("to #Adverb? #Infinitive").match("#Verb").not("#Gerund").found;
}
