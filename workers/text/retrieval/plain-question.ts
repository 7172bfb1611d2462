/** A question that a rule answers. */
export type PlainKind =
  | "agenda"
  | "closing"
  | "decision"
  | "disagreement"
  | "first-mention"
  | "first-speaker"
  | "last-speaker"
  | "least"
  | "length"
  | "most"
  | "next"
  | "number"
  | "open"
  | "speaking-time"
  | "topic-time"
  | "when"
  | "when-said"
  | "who";

const TALK = "(?:meeting|conversation|session|call|recording|discussion|talk)";
const SAID =
  "(?:say|said|mention|mentioned|talk|talked|speak|spoke|discuss|discussed|bring up|brought up|come up|came up|raised?|ask|asked|suggest|suggested|propose|proposed)";

const PATTERNS: readonly (readonly [PlainKind, RegExp])[] = [
  [
    "length",
    new RegExp(
      `\\bhow long (?:did|does|was|is|has)(?: \\w+)? (?:this |the |our |whole |entire )*${TALK}(?: (?:last|take|go on|run|been|lasted))?\\W*$|\\b(?:length|duration) of (?:the|this|our) ${TALK}`,
    ),
  ],
  [
    "topic-time",
    /\b(?:how (?:long|much time)|for how long) .*\b(?:about|discuss(?:ed|ing)?|spen[dt] on|spend on)\b/,
  ],
  [
    "speaking-time",
    /\b(?:how (?:long|much|much time)|for how long) (?:did|has|have|does|do|was|is)\b.*\b(?:speak|spoken|talk|talked|speaking|talking|spend)\b/,
  ],
  [
    "first-mention",
    /\bwho (?:first |was (?:the )?first (?:\w+ )?(?:to|who) )(?:brought|bring|mention|mentioned|raise|raised|suggest|suggested|talk|talked|ask|asked)\b|\bwho (?:brought up|raised)\b/,
  ],
  [
    "first-speaker",
    new RegExp(
      `\\bwho (?:(?:spoke|speaks|talked|talks) first\\W*$|(?:opened|started|began|opens|starts) (?:the|this|our) ${TALK}|was (?:the )?first (?:person |speaker |one )?(?:to (?:speak|talk)|speaking)|said the first)`,
    ),
  ],
  [
    "last-speaker",
    new RegExp(
      `\\bwho (?:(?:spoke|speaks|talked|talks) last\\W*$|(?:closed|ended|finished|closes|ends|concluded) (?:the|this|our) ${TALK}|was (?:the )?last (?:person |speaker |one )?(?:to (?:speak|talk)|speaking)|(?:had|said) the last)`,
    ),
  ],
  [
    "most",
    /\b(?:who|which (?:speaker|person|participant))\b.*\b(?:speak|speaks|spoke|talk|talks|talked|said|says|say|spoken|words|talking|speaking|turns|time)\b.*\b(?:most|longest|more than)\b|\b(?:who|which (?:speaker|person|participant)) (?:did|does|took|takes|had|has|used|said|spoke) (?:the )?(?:most|longest)\b|\bwho dominated\b/,
  ],
  [
    "least",
    /\b(?:who|which (?:speaker|person|participant))\b.*\b(?:spoke|speaks?|talked|talks?|said|says?)\b.*\b(?:least|fewest|shortest)\b/,
  ],
  [
    "next",
    new RegExp(
      `\\bnext (?:${TALK}|time we meet|appointment)\\b|\\bmeet (?:again|next)\\b|\\bsee each other\\b`,
    ),
  ],
  [
    "open",
    /\b(?:(?:still|left|remains?|remained|remaining|kept) (?:open|unclear|undecided|unresolved|unsettled|unanswered|to be (?:\w+))|unresolved|undecided|unanswered|unsettled|open (?:questions?|issues?|points?|items?|matters?)|is open|not (?:yet )?(?:decided|settled|resolved)|left to (?:do|decide|clarify)|outstanding|postponed|find out)\b/,
  ],
  ["agenda", /\b(?:first|opening) (?:topic|subject|point|item|thing)\b/],
  ["closing", /\b(?:last|final) (?:topic|subject|point|item|thing)\b/],
  [
    "disagreement",
    /\b(?:disagree[sd]?|disagreements?|objections?|objected|object to|opposed|against (?:it|that|the))\b/,
  ],
  [
    "decision",
    /\b(?:decided?|decisions?|agreed (?:on|to)|agree on|agree to|settled? on|conclu(?:de|ded|sions?))\b/,
  ],
  [
    "when-said",
    new RegExp(`^\\W*(?:when|at (?:what|which) (?:point|time|moment|minute))\\b.*\\b${SAID}\\b`),
  ],
  [
    "when",
    /^\W*(?:when|(?:at |by |until )?what time|(?:by |until |since )?when|(?:on |by )?(?:what|which) (?:day|date|month|week|year))\b|\b(?:deadline|due date)\b/,
  ],
  [
    "number",
    /\bhow (?:many|much)\b(?! (?:times|time|people (?:spoke|speak|attended|took part|were (?:there|in|at|present)|are (?:there|in))))|\bhow (?:big|large|old|far|expensive|tall|heavy|long)\b|\bwhat (?:percentage|number|price|share)\b/,
  ],
  ["who", /^\W*(?:who|whose|which (?:person|speaker|participant|people))\b/],
];

const SPEAKING = /^(?:speaks|talks|turns?|words?|spend|spent|longest|fewest|shortest|minutes?)$/;
/** Words that ask for a kind of answer and so are not its topic. */
const ASKING: Readonly<Partial<Record<PlainKind, RegExp>>> = {
  most: SPEAKING,
  least: SPEAKING,
  "speaking-time": SPEAKING,
  next: /^(?:next|again|each|appointment|meet|see|held|place|take|takes|start|starts|begin|scheduled)$/,
  open: /^(?:open|still|left|remain(?:s|ed|ing)?|kept|unclear|un\w+ed|unresolved|undecided|issues?|items?|matters?|outstanding|postponed|settled|resolved|clarify|yet|end)$/,
  agenda: /^(?:first|opening|item|thing)$/,
  closing: /^(?:last|final|item|thing)$/,
  disagreement: /^(?:disagree\w*|object\w*|opposed|against|there)$/,
  decision: /^(?:settled?|made|make|final|taken|take|conclusions?|end)$/,
  "topic-time": /^(?:spend|spent|long|much|minutes?)$/,
  "first-mention": /^(?:first|brought|bring|raised?)$/,
  "when-said": /^(?:bring|brought|raised?|minute|moment)$/,
  when: /^(?:deadline|due|date|day|month|year)$/,
  number: /^(?:percentage|number|share|big|large)$/,
};

/** The kind of a plain question in English; undefined for others. */
export function readPlainKind(text: string): PlainKind | undefined {
  const folded = text.toLowerCase().replace(/\s+/g, " ");
  return PATTERNS.find(([, pattern]) => pattern.test(folded))?.[0];
}

/** The topic without the words that only ask for this kind of answer. */
export function topicOfKind(kind: PlainKind, words: readonly string[]): string[] {
  const asking = ASKING[kind];
  return asking === undefined
    ? [...words]
    : words.filter((word) => !asking.test(word.toLowerCase()));
}

/** What the one who is asked for did. */
export type Deed = "agreement" | "disagreement" | "promise" | "proposal" | "question";

const DEEDS: readonly (readonly [Deed, RegExp])[] = [
  ["disagreement", /\b(?:disagree[sd]?|object\w*|opposed|against|refused?)\b/],
  ["agreement", /\b(?:agree[sd]?|supported|confirmed|approved)\b/],
  ["proposal", /\b(?:suggest\w*|propos\w*|recommend\w*|idea)\b/],
  ["question", /\bask(?:s|ed)?\b/],
  [
    "promise",
    /\bwho(?:['’]ll| will| should| has to| must| needs to| is going to| is supposed to| is responsible| promised| offered)\b/,
  ],
];

export function readDeed(text: string): Deed | undefined {
  const folded = text.toLowerCase();
  return DEEDS.find(([, pattern]) => pattern.test(folded))?.[0];
}
