import { toMilliseconds } from "../../../base/audio/sample-rate.ts";
import { withoutBreaks } from "../../../wire/one-line.ts";
import { markUnclear, unclearIndexes } from "../../../wire/unclear-words.ts";
import type { SegmentRecord } from "./segment-record.ts";

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
/** Letters of the marks around a run of unclear words. */
const MARKS = "[?]".length;
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
    const measured = new MeasuredWords(words);
    for (let from = 0, to = 0; from < words.length; from = to) {
      const isTurn = from === 0;
      const room = isTurn ? roomFor(speaker) : 0;
      to = cutAt(measured, from, room);
      const [first, last] = [words[from], words[to - 1]];
      if (first === undefined || last === undefined) break;
      const end = last.timesClamped === true ? last.end + SHORTEST_MS : last.end;
      cues.push({
        start: first.start,
        end,
        speaker,
        lines: linesOf(measured, { from, to, room }),
        isTurn,
      });
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

/**
 * Words in a row that know how long any run of them is in writing. Each run that is tried would
 * otherwise be written, which takes the cube of a caption's words.
 */
class MeasuredWords {
  readonly words: readonly TimedWord[];
  /** Letters of the words before each place. */
  readonly #letters: number[] = [0];
  /** How many runs of unclear words begin before each place. */
  readonly #runs: number[] = [0];

  constructor(words: readonly TimedWord[]) {
    this.words = words;
    let [letters, runs, isUnclear] = [0, 0, false];
    for (const { text, unclear } of words) {
      letters += text.length;
      if (unclear === true && !isUnclear) runs += 1;
      isUnclear = unclear === true;
      this.#letters.push(letters);
      this.#runs.push(runs);
    }
  }

  /** Letters of `write(from, to)`. */
  lengthOf(from: number, to: number): number {
    if (to <= from) return 0;
    const letters = (this.#letters[to] ?? 0) - (this.#letters[from] ?? 0) + to - from - 1;
    const begun = this.words[from]?.unclear === true ? 1 : 0;
    const runs = (this.#runs[to] ?? 0) - (this.#runs[from + 1] ?? 0) + begun;
    return letters + runs * MARKS;
  }

  /** The words from `from` up to, not with, `to`, with the unclear ones marked. */
  write(from: number, to: number): string {
    const taken = this.words.slice(from, to);
    return markUnclear(
      taken.map(({ text }) => text),
      unclearIndexes(taken),
    );
  }
}

/** Words of one caption, from a place up to, not with, another. */
interface Span {
  from: number;
  to: number;
  /** Letters of the first line that are taken. */
  room: number;
}

/** Where the caption that begins at `from` ends. */
function cutAt(measured: MeasuredWords, from: number, room: number): number {
  const { words } = measured;
  const furthest = fittingEnd(measured, from, room);
  if (furthest === words.length) return furthest;
  let best = furthest;
  let bestWorth = Number.NEGATIVE_INFINITY;
  for (let to = from + 1; to <= furthest; to++) {
    const worth = worthOf(words, to) - (to - from < (furthest - from) / 3 ? 2 : 0);
    if (worth < bestWorth) continue;
    best = to;
    bestWorth = worth;
  }
  return best;
}

function fittingEnd(measured: MeasuredWords, from: number, room: number): number {
  const { words } = measured;
  const first = words[from];
  if (first === undefined) return from;
  for (let to = from + 1; to < words.length; to++) {
    const [last, next] = [words[to - 1], words[to]];
    if (last === undefined || next === undefined) break;
    const isBroken = next.start - last.end >= BREAK_MS;
    if (isBroken || next.end - first.start > LONGEST_MS) return to;
    if (!fits(measured, { from, to: to + 1, room })) return to;
    const isSentence = SENTENCE_END.test(last.text) && next.start - last.end >= PAUSE_MS;
    if (isSentence && last.end - first.start >= SHORTEST_MS) return to;
  }
  return words.length;
}

const SENTENCE_END = /[.?!]['")]*$/;

/** How good a place the one before the word at `to` is to end a caption. */
function worthOf(words: readonly TimedWord[], to: number): number {
  const [last, next] = [words[to - 1], words[to]];
  if (last === undefined || next === undefined) return 4;
  if (SENTENCE_END.test(last.text)) return 4;
  if (next.start - last.end >= PAUSE_MS) return 3;
  if (/[,;:]$/.test(last.text)) return 3;
  return JOINING.has(next.text.toLowerCase()) && !JOINING.has(last.text.toLowerCase()) ? 1 : 0;
}

function isOneLine(measured: MeasuredWords, { from, to, room }: Span): boolean {
  return to - from <= 1 || measured.lengthOf(from, to) + room <= LINE_CHARACTERS;
}

/** Whether the words have room in one line or in two. */
function fits(measured: MeasuredWords, span: Span): boolean {
  const { from, to, room } = span;
  if (isOneLine(measured, span)) return true;
  if (measured.lengthOf(from, to) + room > 2 * LINE_CHARACTERS + 6) return false;
  let at = from + 1;
  while (at + 1 < to && measured.lengthOf(from, at + 1) + room <= LINE_CHARACTERS) at++;
  const upper = measured.lengthOf(from, at) + room;
  return upper <= LINE_CHARACTERS && measured.lengthOf(at, to) <= LINE_CHARACTERS;
}

/**
 * The words in one line, or in two of about the same length; none when they do not fit. A single
 * word always does.
 */
function linesOf(measured: MeasuredWords, span: Span): string[] {
  const { from, to, room } = span;
  if (isOneLine(measured, span)) return [measured.write(from, to)];
  let best: number | undefined;
  let bestCost = Number.POSITIVE_INFINITY;
  for (let at = from + 1; at < to; at++) {
    const [upper, lower] = [measured.lengthOf(from, at) + room, measured.lengthOf(at, to)];
    if (upper > LINE_CHARACTERS || lower > LINE_CHARACTERS) continue;
    const cost = Math.abs(upper - lower) - 6 * worthOf(measured.words, at);
    if (cost >= bestCost) continue;
    best = at;
    bestCost = cost;
  }
  return best === undefined ? [] : [measured.write(from, best), measured.write(best, to)];
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
