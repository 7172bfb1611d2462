/** The times that a question asks about, within a conversation and by day. */
export interface AskedTimes {
  /** Milliseconds from the start; with `fromEnd` back from the end. */
  within?: TimeSpan;
  /** When the conversation took place, Unix milliseconds. */
  days?: { from: number; to: number };
  /** The question without the words about times. */
  rest: string;
}

type TimeSpan =
  | { kind: "share"; from: number; to: number }
  | { kind: "start"; from: number; to: number }
  | { kind: "end"; length: number };

const DAY = 86_400_000;
const MINUTE = 60_000;
const AROUND = 90_000;
const OF_TALK =
  "(?: of (?:the|this|that|our) (?:meeting|conversation|session|call|recording|discussion|talk))?(?! of)";
const NUMBERS: Readonly<Record<string, number>> = {
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  fifteen: 15,
  twenty: 20,
  thirty: 30,
};
const NUMBER = `(\\d{1,3}|${Object.keys(NUMBERS).join("|")})`;
const UNIT = "(seconds?|minutes?|mins?|hours?)";
const CLOCK = "(\\d{1,2}:\\d{2}(?::\\d{2})?)";

interface Rule {
  pattern: RegExp;
  span: (match: RegExpExecArray) => TimeSpan;
}

const RULES: readonly Rule[] = [
  {
    pattern: rule(`(?:in|during|within) the first ${NUMBER} ${UNIT}${OF_TALK}`),
    span: ([, count, unit]) => ({ kind: "start", from: 0, to: lengthOf(count, unit) }),
  },
  {
    pattern: rule(`(?:in|during|within) the last ${NUMBER} ${UNIT}${OF_TALK}`),
    span: ([, count, unit]) => ({ kind: "end", length: lengthOf(count, unit) }),
  },
  {
    pattern: rule(`(?:in|during|within) the first ${UNIT}${OF_TALK}`),
    span: ([, unit]) => ({ kind: "start", from: 0, to: lengthOf("1", unit) }),
  },
  {
    pattern: rule(`(?:in|during|within) the last ${UNIT}${OF_TALK}`),
    span: ([, unit]) => ({ kind: "end", length: lengthOf("1", unit) }),
  },
  {
    pattern: rule(`between ${CLOCK} and ${CLOCK}`),
    span: ([, from, to]) => ({ kind: "start", from: clock(from), to: clock(to) + 999 }),
  },
  {
    pattern: rule(`between ${NUMBER} and ${NUMBER} ${UNIT}`),
    span: ([, from, to, unit]) => ({
      kind: "start",
      from: lengthOf(from, unit),
      to: lengthOf(to, unit),
    }),
  },
  {
    pattern: rule(`(?:at|around|near) ${CLOCK}`),
    span: ([, at]) => ({ kind: "start", from: clock(at) - AROUND, to: clock(at) + AROUND }),
  },
  {
    pattern: rule(`after ${NUMBER} ${UNIT}${OF_TALK}`),
    span: ([, count, unit]) => ({
      kind: "start",
      from: lengthOf(count, unit),
      to: Number.MAX_SAFE_INTEGER,
    }),
  },
  {
    pattern: rule(`(?:at|in|near|towards?) the (?:very )?(?:beginning|start|opening)${OF_TALK}`),
    span: () => ({ kind: "share", from: 0, to: 0.2 }),
  },
  {
    // "In the end" means finally.
    pattern: rule(`(?:at|near|towards?) the (?:very )?end${OF_TALK}`),
    span: () => ({ kind: "share", from: 0.8, to: 1 }),
  },
  {
    pattern: rule(`(?:at|in|near|towards?) the middle${OF_TALK}`),
    span: () => ({ kind: "share", from: 0.3, to: 0.7 }),
  },
];

/** Separates the times from a question. */
export function readTimes(text: string, now: number): AskedTimes {
  const times: AskedTimes = { rest: text };
  for (const { pattern, span } of RULES) {
    const match = pattern.exec(times.rest);
    if (match === null) continue;
    times.within = span(match);
    times.rest = times.rest.replace(match[0], " ");
    break;
  }
  const days = readDays(times.rest, now);
  if (days === undefined) return times;
  return {
    ...times,
    days: { from: days.from, to: days.to },
    rest: times.rest.replace(days.said, " "),
  };
}

/** Days are cut at midnight UTC, like all times of the interface. */
function readDays(
  text: string,
  now: number,
): { from: number; to: number; said: string } | undefined {
  const today = Math.floor(now / DAY) * DAY;
  const recent = rule(
    `(?:in|over|during|within) the (?:last|past) ${NUMBER} (days?|weeks?|months?)`,
  ).exec(text);
  if (recent !== null) {
    const [said, count, unit = ""] = recent;
    const days = number(count) * (unit.startsWith("w") ? 7 : unit.startsWith("m") ? 30 : 1);
    return { from: now - days * DAY, to: now + 1, said };
  }
  const named = rule("(today|yesterday|this week|last week|this month|last month)").exec(text);
  if (named === null) return undefined;
  const [said, which = ""] = named;
  return { ...spanOf(which.toLowerCase(), today), said };
}

function spanOf(which: string, today: number): { from: number; to: number } {
  const date = new Date(today);
  const monday = today - ((date.getUTCDay() + 6) % 7) * DAY;
  const month = (shift: number): number =>
    Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + shift);
  if (which === "today") return { from: today, to: today + DAY };
  if (which === "yesterday") return { from: today - DAY, to: today };
  if (which === "this week") return { from: monday, to: monday + 7 * DAY };
  if (which === "last week") return { from: monday - 7 * DAY, to: monday };
  return which === "this month"
    ? { from: month(0), to: month(1) }
    : { from: month(-1), to: month(0) };
}

function rule(source: string): RegExp {
  return new RegExp(`\\b${source}(?!\\w)`, "i");
}

function number(text = ""): number {
  return NUMBERS[text.toLowerCase()] ?? Number(text);
}

function lengthOf(count: string | undefined, unit = ""): number {
  const scale = unit.startsWith("s") ? 1_000 : unit.startsWith("h") ? 60 * MINUTE : MINUTE;
  return number(count) * scale;
}

function clock(text = ""): number {
  return text.split(":").reduce((sum, part) => sum * 60 + Number(part), 0) * 1_000;
}

/** True when the span from `start` to `end` overlaps the requested one; all in milliseconds. */
export function isWithin(span: TimeSpan, start: number, end: number, length: number): boolean {
  if (span.kind === "end") return end > length - span.length;
  const scale = span.kind === "share" ? length : 1;
  return end > span.from * scale && start < Math.max(span.to * scale, span.from * scale + 1);
}
