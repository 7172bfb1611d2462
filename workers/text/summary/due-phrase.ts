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

/** The words that say by when, as they were spoken, or undefined. English only. */
export function findDuePhrase(text: string): string | undefined {
  return DUE.exec(text.replaceAll("’", "'"))?.[0];
}
