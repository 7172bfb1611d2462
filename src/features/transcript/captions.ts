import { toMilliseconds } from "../../base/audio/sample-rate.ts";
import { withoutBreaks } from "../../wire/names.ts";
import { markUnclear, unclearPlaces } from "../../wire/unclear-words.ts";
import type { SegmentRecord } from "./segments-store.ts";

/** One caption. Times are milliseconds. */
export interface Cue {
  start: number;
  end: number;
  speaker: string;
  /** At most two lines, unless a word is longer than a line. */
  lines: string[];
  /** True where the speaker is another one than in the caption before. */
  isTurn: boolean;
}

/** Guidelines of broadcasters agree on two lines of about 42 characters and at most 7 s. */
const LINE_CHARACTERS = 42;
const LONGEST_MS = 7_000;
const SHORTEST_MS = 1_000;
/** How fast people read: 17 to 20 characters in a second. */
const READ_PER_SECOND = 17;
/** A pause that a caption does not span. */
const BREAK_MS = 1_500;
/** A pause at which a caption is cut with pleasure. */
const PAUSE_MS = 300;
/** What a caption may be lengthened by after its last word. */
const LONGEST_WAIT_MS = 3_000;
/** A line or a caption rather ends before these words. */
const JOINING = new Set(
  "and but or so because if when while that which who where than as to of in on at for from with about into by".split(
    " ",
  ),
);

interface TimedWord {
  text: string;
  start: number;
  end: number;
  unclear?: boolean | undefined;
  timesClamped?: boolean | undefined;
}

/**
 * Segments as captions of at most two lines of 42 characters and 7 s. They end at the ends of
 * sentences, else at pauses and before joining words; another speaker begins another one. Each stays for
 * a second and until it can be read, as long as the next one does not begin and the sound does not
 * end. Words that were edited have times in proportion to the text.
 *
 * @param speakerOf the segment's speaker as shown
 * @param roomFor letters that the speaker takes of a caption's first line
 * @param soundEnd end of the recording, milliseconds, where it is known
 */
export function toCues(
  segments: readonly SegmentRecord[],
  speakerOf: (segment: SegmentRecord) => string,
  roomFor: (speaker: string) => number,
  soundEnd = Number.POSITIVE_INFINITY,
): Cue[] {
  const cues: Cue[] = [];
  for (const { speaker, words } of turnsOf(segments, speakerOf)) {
    let rest = words;
    for (let isTurn = true; rest.length > 0; isTurn = false) {
      const room = isTurn ? roomFor(speaker) : 0;
      const taken = rest.slice(0, cutAt(rest, room));
      rest = rest.slice(taken.length);
      const [first, last] = [taken[0], taken.at(-1)];
      if (first === undefined || last === undefined) break;
      const end = last.timesClamped === true ? last.end + SHORTEST_MS : last.end;
      cues.push({ start: first.start, end, speaker, lines: linesOf(taken, room) ?? [], isTurn });
    }
  }
  return lengthened(cues, soundEnd);
}

interface Turn {
  speaker: string;
  words: TimedWord[];
}

function turnsOf(
  segments: readonly SegmentRecord[],
  speakerOf: (segment: SegmentRecord) => string,
): Turn[] {
  const turns: Turn[] = [];
  for (const segment of segments) {
    if (segment.text === "") continue;
    const speaker = speakerOf(segment);
    const last = turns.at(-1);
    if (last?.speaker === speaker) last.words.push(...timedWords(segment));
    else turns.push({ speaker, words: timedWords(segment) });
  }
  return turns;
}

/** How many of the words make the next caption. */
function cutAt(words: readonly TimedWord[], room: number): number {
  const fitting = fittingCount(words, room);
  if (fitting === words.length) return fitting;
  let best = fitting;
  let bestWorth = Number.NEGATIVE_INFINITY;
  for (let count = 1; count <= fitting; count++) {
    const worth = worthOf(words, count) - (count < fitting / 3 ? 2 : 0);
    if (worth < bestWorth) continue;
    best = count;
    bestWorth = worth;
  }
  return best;
}

function fittingCount(words: readonly TimedWord[], room: number): number {
  const [first] = words;
  if (first === undefined) return 0;
  for (let count = 1; count < words.length; count++) {
    const [last, next] = [words[count - 1], words[count]];
    if (last === undefined || next === undefined) break;
    const isBroken = next.start - last.end >= BREAK_MS;
    if (isBroken || next.end - first.start > LONGEST_MS) return count;
    if (linesOf(words.slice(0, count + 1), room) === undefined) return count;
    const isSentence = /[.?!]['")]*$/.test(last.text) && next.start - last.end >= PAUSE_MS;
    if (isSentence && last.end - first.start >= SHORTEST_MS) return count;
  }
  return words.length;
}

/** How good a place the one behind `count` words is to end a caption. */
function worthOf(words: readonly TimedWord[], count: number): number {
  const [last, next] = [words[count - 1], words[count]];
  if (last === undefined || next === undefined) return 4;
  if (/[.?!]['")]*$/.test(last.text)) return 4;
  if (next.start - last.end >= PAUSE_MS) return 3;
  if (/[,;:]$/.test(last.text)) return 3;
  return JOINING.has(next.text.toLowerCase()) && !JOINING.has(last.text.toLowerCase()) ? 1 : 0;
}

/**
 * The words in one line, or in two of about the same length; undefined when they do not fit. A
 * single word always does.
 *
 * @param room letters of the first line that are taken
 */
function linesOf(words: readonly TimedWord[], room: number): string[] | undefined {
  const whole = marked(words);
  if (whole.length + room <= LINE_CHARACTERS || words.length === 1) return [whole];
  if (whole.length + room > 2 * LINE_CHARACTERS + 6) return undefined;
  let best: string[] | undefined;
  let bestCost = Number.POSITIVE_INFINITY;
  for (let count = 1; count < words.length; count++) {
    const lines = [marked(words.slice(0, count)), marked(words.slice(count))];
    const [upper = 0, lower = 0] = lines.map(({ length }, at) => length + (at === 0 ? room : 0));
    if (upper > LINE_CHARACTERS || lower > LINE_CHARACTERS) continue;
    const cost = Math.abs(upper - lower) - 6 * worthOf(words, count);
    if (cost >= bestCost) continue;
    best = lines;
    bestCost = cost;
  }
  return best;
}

function marked(words: readonly TimedWord[]): string {
  return markUnclear(
    words.map(({ text }) => text),
    unclearPlaces(words),
  );
}

/** Captions that stay until they can be read, or until the next one begins, or the sound ends. */
function lengthened(cues: readonly Cue[], soundEnd: number): Cue[] {
  return cues.map((cue, place) => {
    const letters = cue.lines.join(" ").length;
    const needed = Math.max(SHORTEST_MS, Math.round((1_000 * letters) / READ_PER_SECOND));
    const wanted = Math.min(cue.start + Math.min(needed, LONGEST_MS), cue.end + LONGEST_WAIT_MS);
    const next = cues[place + 1]?.start ?? soundEnd;
    return { ...cue, end: Math.max(cue.end, Math.min(wanted, next)) };
  });
}

function timedWords(segment: SegmentRecord): TimedWord[] {
  const texts = withoutBreaks(segment.text)
    .split(/\s+/)
    .filter((text) => text !== "");
  if (texts.length === segment.words.length) {
    return segment.words.map(({ start, end, ...word }, place) => ({
      ...word,
      text: texts[place] ?? word.text,
      start: toMilliseconds(start),
      end: toMilliseconds(end),
    }));
  }
  const length = texts.reduce((sum, text) => sum + text.length + 1, 0);
  const per = (segment.end - segment.start) / Math.max(1, length);
  let at = segment.start;
  return texts.map((text) => {
    const start = at;
    at += (text.length + 1) * per;
    return { text, start: toMilliseconds(start), end: toMilliseconds(at) };
  });
}
