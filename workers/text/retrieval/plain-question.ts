import { countsVoices } from "./question-intent.ts";

/** A question that a rule answers. */
export type PlainKind =
  | "agenda"
  | "allotted"
  | "amount"
  | "closing"
  | "decision"
  | "disagreement"
  | "first-mention"
  | "first-speaker"
  | "last-speaker"
  | "least"
  | "length"
  | "most"
  | "name"
  | "next"
  | "number"
  | "open"
  | "speaking-time"
  | "topic-time"
  | "when"
  | "when-first"
  | "when-said"
  | "who";

const TALK = "(?:meeting|conversation|session|call|recording|discussion|talk)";
const THE = "(?:(?:this|the|our|that|their|whole|entire|last) )+";
const WE = "(?:we|they|you|i|everyone|everybody|people|the (?:group|team|others))";
const PERSON =
  "(?:who|which (?:speaker|person|participant|one)|which (?:one )?of (?:them|us|you|the \\w+))";
const SAID =
  "(?:say|said|mention|mentioned|talk|talked|talking|speak|spoke|discuss|discussed|discussing|bring up|brought up|come up|came up|raised?|ask|asked|suggest|suggested|propose|proposed|get to|got to|turn(?:ed)? to|move[ds]? on to|cover(?:ed)?|touch(?:ed)? on|go over|went over|address(?:ed)?|hear(?:d)?)";
const WHEN = "(?:when|at (?:what|which) (?:point|time|moment|minute|stage)|how (?:far|early|late))";
const PATTERNS: readonly (readonly [PlainKind, RegExp])[] = [
  [
    "length",
    new RegExp(
      `\\bhow long (?:did|does|was|is|has) (?:${THE}${TALK}|it all|it|everything)(?: (?:last|take|go on|run|been|lasted|all together|altogether|in total|overall))*\\W*$|\\b(?:length|duration) of ${THE}${TALK}|\\bhow (?:many minutes|many hours|much time) (?:did|does|was|is) ${THE}${TALK} (?:last|take|long)`,
    ),
  ],
  [
    "topic-time",
    /\b(?:how (?:long|much time|many minutes|many seconds)|for how long) .*\b(?:about|discuss(?:ed|ing)?|spen[dt] on|spend on)\b/,
  ],
  [
    "speaking-time",
    /\b(?:how (?:long|much|much time|many minutes|many seconds)|for how long) (?:did|has|have|does|do|was|is|were|are)\b.*\b(?:speak|spoken|talk|talked|speaking|talking|spend|the floor|say|saying)\b|\b(?:speaking|talking|talk|air) ?time\b/,
  ],
  [
    "first-mention",
    /\bwho (?:first |was (?:the )?first (?:\w+ )?(?:to|who) )(?:brought|bring|mention|mentioned|raise|raised|suggest|suggested|talk|talked|ask|asked)\b|\bwho (?:brought up|raised)\b|\bwho \w+(?: up)? .*\bfirst\W*$/,
  ],
  [
    "when-first",
    new RegExp(`^\\W*${WHEN}\\b.*\\b(?:first ${SAID}|${SAID}.*\\bfirst\\b|the first time)`),
  ],
  [
    "first-speaker",
    new RegExp(
      `\\bwho (?:(?:spoke|speaks|talked|talks) first\\W*$|(?:opened|started|began|opens|starts) ${THE}${TALK}|was (?:the )?first (?:person |speaker |one )?(?:to (?:speak|talk)|speaking)|said the first)`,
    ),
  ],
  [
    "last-speaker",
    new RegExp(
      `\\bwho (?:(?:spoke|speaks|talked|talks) last\\W*$|(?:closed|ended|finished|closes|ends|concluded) ${THE}${TALK}|was (?:the )?last (?:person |speaker |one )?(?:to (?:speak|talk)|speaking)|(?:had|said) the last)`,
    ),
  ],
  [
    "most",
    new RegExp(
      `\\b${PERSON}\\b.*\\b(?:speak|speaks|spoke|talk|talks|talked|said|says|say|spoken|words|talking|speaking|turns|time|floor)\\b.*\\b(?:most|longest|more than)\\b|\\b${PERSON} (?:did|does|took|takes|had|has|got|gets|used|said|spoke|held) (?:the )?(?:most|longest|floor)\\b|\\bwho dominated\\b|\\b(?:most|more) (?:talkative|vocal)\\b|\\b${PERSON} (?:speaks?|spoke|talks?|talked) (?:more|longer)\\b|\\bthe main speaker\\b`,
    ),
  ],
  [
    "least",
    new RegExp(
      `\\b${PERSON}\\b.*\\b(?:spoke|speaks?|talked|talks?|said|says?|talking|speaking|words|turns)\\b.*\\b(?:least|fewest|shortest)\\b|\\b${PERSON} (?:did|does|had|has|got|said|spoke) (?:the )?(?:least|fewest|shortest)\\b|\\b(?:least talkative|quietest)\\b`,
    ),
  ],
  [
    "next",
    new RegExp(
      `\\bnext (?:${TALK}|time ${WE} (?:meet|see|talk)|appointment|get-together)\\b|\\bmeet(?:ing)? (?:up )?(?:again|next)\\b|\\b(?:see|seeing) each other\\b|\\b(?:follow-?up|another) ${TALK}\\b|^\\W*(?:when|what time|at what time|how soon|(?:on )?(?:what|which) day)\\b.*\\b(?:meet|meeting|come|coming|get|getting|be|gather|talk|speak)\\b (?:\\w+ )?(?:again|back|together(?: again)?)\\W*$|\\breconvene\\b`,
    ),
  ],
  [
    "allotted",
    new RegExp(
      `\\bhow (?:much time|long|many minutes)\\b.*\\b(?:do|did|does|will|have|has|is|was|are)\\b.*\\b(?:${WE} (?:have|got|get)|there|left|planned|scheduled|allowed|allotted)\\b`,
    ),
  ],
  [
    "open",
    /\b(?:(?:still|left|remains?|remained|remaining|kept) (?:open|unclear|undecided|unresolved|unsettled|unanswered|to be (?:\w+))|unresolved|undecided|unanswered|unsettled|open (?:questions?|issues?|points?|items?|matters?)|is open|not (?:yet )?(?:decided|settled|resolved)|left to (?:do|decide|clarify)|outstanding|postponed|find out\W*$|(?:need|have) to find out)\b/,
  ],
  ["agenda", /\b(?:first|opening) (?:topic|subject|point|item|thing)\b|\babout first\W*$/],
  ["closing", /\b(?:last|final) (?:topic|subject|point|item|thing)\b|\babout last\W*$/],
  [
    "disagreement",
    /\b(?:disagree[sd]?|disagreements?|objections?|objected|object to|opposed|against (?:it|that|the))\b/,
  ],
  [
    "decision",
    new RegExp(
      `\\b(?:decided?|decisions?|agreed (?:on|to)|agree on|agree to|settled? (?:on|for)|conclu(?:de|ded|sions?))\\b|\\b(?:what|which)\\b.*\\b${WE} (?:choose|chose|pick|go (?:with|for)|opt for|end up|going to (?:use|take|have|go with))\\b|\\b(?:what|which)\\b.*\\b(?:was|were|got|been) (?:chosen|picked|selected)\\b`,
    ),
  ],
  ["when-said", new RegExp(`^\\W*${WHEN}\\b.*\\b${SAID}\\b`)],
  [
    "when",
    /^\W*(?:and |so |then )?(?:when|(?:at |by |until )?what time|(?:by |until |since )?when|(?:on |by |in )?(?:what|which) (?:day|date|month|week|year)|how soon)\b|\b(?:deadline|due date)\b/,
  ],
  [
    "number",
    /\bhow (?:many|much)\b(?! (?:times|time))|\bhow (?:big|large|old|far|expensive|tall|heavy|long)\b|\bwhat (?:percentage|number|price|share)\b|\bwhat (?:does|did|will|would|do) (?:\w+ ){1,5}cost\W*$/,
  ],
  ["name", /\bwhat(?:['’]s| is| was) .*\b(?:names?|called)\W*$/],
  [
    "amount",
    /\bwhat(?:['’]s| is| was| are| were| will be) (?:the|our|their|its|your) (?:\w+ ){0,2}(?:price|costs?|budget|percentage|target|score|salary|fee|rent|amount|number|size|rate|profit)\b|\b(?:what|which) (?:\w+ )?(?:score|amount|figure|sum|size|rate) (?:did|do|does|is|was|were|are|will|would|should)\b/,
  ],
  ["who", new RegExp(`^\\W*(?:and |so )?(?:${PERSON}|whose|whom|which (?:participant|people))\\b`)],
];

const SPEAKING =
  /^(?:speaks|talks|turns?|words?|spend|spent|longest|fewest|shortest|minutes?|seconds?|floor|total|altogether|talkative|vocal|quietest|longer|time)$/;
/** Words that ask for a kind of answer and so are not its topic. */
const ASKING: Readonly<Partial<Record<PlainKind, RegExp>>> = {
  most: SPEAKING,
  least: SPEAKING,
  "speaking-time": SPEAKING,
  allotted: /^(?:minutes?|left|planned|scheduled|allowed|allotted|need)$/,
  next: /^(?:next|again|each|appointment|meet|meets|see|seeing|held|place|take|takes|start|starts|begin|scheduled|back|together|follow-?up|followup|another|reconvene|new)$/,
  open: /^(?:open|still|left|remain(?:s|ed|ing)?|kept|unclear|un\w+ed|unresolved|undecided|issues?|items?|matters?|outstanding|postponed|settled|resolved|clarify|yet|end)$/,
  agenda: /^(?:first|opening|item|thing)$/,
  closing: /^(?:last|final|item|thing)$/,
  disagreement: /^(?:disagree\w*|object\w*|opposed|against|there)$/,
  decision:
    /^(?:settled?|made|make|final|finally|taken|take|conclusions?|end|choose|chose|chosen|pick(?:ed)?|selected|opt|kind|sort|type)$/,
  name: /^(?:names?|called)$/,
  "topic-time": /^(?:spend|spent|long|much|minutes?|seconds?|total)$/,
  "first-mention": /^(?:first|brought|bring|raised?)$/,
  "when-first":
    /^(?:first|brought|bring|raised?|minute|moment|stage|early|turn(?:ed)?|cover(?:ed)?)$/,
  "when-said":
    /^(?:bring|brought|raised?|minute|moment|stage|far|early|late|turn(?:ed)?|move[ds]?|cover(?:ed)?|touch(?:ed)?|address(?:ed)?|hear|heard)$/,
  when: /^(?:deadline|due|date|day|month|year|soon)$/,
  number: /^(?:percentage|number|share|big|large)$/,
  who: /^(?:complain\w*|claim\w*|admit\w*|report(?:s|ed)|remark\w*|joke[sd]?|warn\w*|point(?:s|ed)|like[sd]|love[sd]?|prefer\w*|enjoy\w*|fond|want(?:s|ed)|wonder(?:s|ed))$/,
};

/** The kind of a plain question in English; undefined for others. */
export function readPlainKind(text: string): PlainKind | undefined {
  const folded = text.toLowerCase().replace(/\s+/g, " ");
  if (countsVoices(folded)) return undefined;
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
export type Deed = "agreement" | "disagreement" | "liking" | "promise" | "proposal" | "question";

const DEEDS: readonly (readonly [Deed, RegExp])[] = [
  ["disagreement", /\b(?:disagree[sd]?|object\w*|opposed|against|refused?)\b/],
  ["agreement", /\b(?:agree[sd]?|supported|confirmed|approved)\b/],
  ["proposal", /\b(?:suggest\w*|propos\w*|recommend\w*|idea|came up with)\b/],
  ["liking", /\b(?:likes?|loves?|liked|loved|prefers?|preferred|enjoys?|fond|favou?rite)\b/],
  ["question", /\bask(?:s|ed)?\b|\bwant(?:s|ed) to know\b|\bwonder(?:s|ed)\b|\binquired\b/],
  [
    "promise",
    /\bwho(?:['’]ll| will| should| has to| must| needs to| gets to|['’]s going to| is going to| is supposed to| is responsible| promised| offered| volunteered| takes? care)\b/,
  ],
];

export function readDeed(text: string): Deed | undefined {
  const folded = text.toLowerCase();
  return DEEDS.find(([, pattern]) => pattern.test(folded))?.[0];
}

/** What a number that is asked for measures. */
export type Measure = "count" | "money" | "time";

const MEASURES: readonly (readonly [Measure, RegExp])[] = [
  [
    "time",
    /\bhow (?:long|much time|soon)\b|\bhow many (?:second|minute|hour|day|week|month|year)s\b/,
  ],
  [
    "money",
    /\bhow much\b.*\b(?:costs?|spend|pay|paid|money|price|budget|sell|sold|worth|charge|profit|earn|fund(?:ing|s)?|fee|salary|rent|loan|grant|bursary|invest\w*|expensive)\b|\bwhat\b.*\b(?:price|costs?|budget|salary|fee|rent)\b|\bhow expensive\b|\bwhat\b.*\bprofit\b|\bhow many (?:euros|dollars|pounds)\b/,
  ],
  ["count", /\bhow many\b/],
];

export function readMeasure(text: string): Measure | undefined {
  const folded = text.toLowerCase();
  return MEASURES.find(([, pattern]) => pattern.test(folded))?.[0];
}
