/** The words of one sentence in a text: `from` included, `to` not. */
interface WordSpan {
  from: number;
  to: number;
}

/** Longest run of words without punctuation that is not cut. */
const LONG_WORDS = 24;
/** Fewest words of a sentence that is cut at a pause. */
const SHORT_WORDS = 3;

const TERMINAL = /[.!?…。！？]["'”’)\]]*$/u;
const ABBREVIATION =
  /(?:^|\s)(?:mr|mrs|ms|dr|prof|sr|jr|st|vs|etc|e\.g|i\.e|cf|no|approx|inc|ltd|co|[a-z])\.$/iu;
const AUXILIARY = new Set(
  "am are can could did do does had has have is may might shall should was were will would".split(
    " ",
  ),
);
const SUBJECT = new Set("i we you he she it they there this that everyone everybody".split(" "));
/** After these words an auxiliary before a subject does not begin a separate question. */
const QUESTION_WORD = new Set(
  "what when where which who whom whose why how and or but if than as so".split(" "),
);
const PERSON = new Set("i we you he she they".split(" "));
const CONJUNCTION = new Set("and but so because then however".split(" "));

/**
 * Splits a text into sentences, in order and complete: joined by a space they are its words again.
 *
 * With punctuation the language's own rules apply. Without any, as recognisers write, sentences end
 * at `pauses` (indexes, from 0, of words before which the speaker paused), before a question, and,
 * where a sentence would be too long, before a conjunction with a subject; these words are English.
 */
export function splitSentences(text: string, pauses: readonly number[] = []): string[] {
  const words = text.split(/\s+/u).filter((word) => word !== "");
  if (words.length === 0) return [];
  if (words.some((word) => TERMINAL.test(word))) return splitPunctuated(words.join(" "));
  return splitBare(words, new Set(pauses));
}

/** True when the text ends with sentence punctuation. */
export function isTerminated(text: string): boolean {
  return TERMINAL.test(text.trimEnd());
}

const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });

function splitPunctuated(text: string): string[] {
  const sentences: string[] = [];
  let open = "";
  for (const { segment } of segmenter.segment(text)) {
    open = open === "" ? segment.trim() : `${open} ${segment.trim()}`;
    if (ABBREVIATION.test(open)) continue;
    sentences.push(open);
    open = "";
  }
  if (open !== "") sentences.push(open);
  return sentences;
}

function splitBare(words: readonly string[], pauses: ReadonlySet<number>): string[] {
  const lower = words.map((word) => word.toLowerCase());
  const spans = cutAt(
    { from: 0, to: words.length },
    (index) => pauses.has(index) || isStart(lower, index),
  );
  return spans.flatMap((span) =>
    (span.to - span.from > LONG_WORDS ? cutLong(lower, span) : [span]).map(({ from, to }) =>
      words.slice(from, to).join(" "),
    ),
  );
}

/** Cuts before the words that `isStart` accepts, unless a part would be too short. */
function cutAt(span: WordSpan, isStart: (index: number) => boolean): WordSpan[] {
  const spans: WordSpan[] = [];
  let from = span.from;
  for (let index = from + SHORT_WORDS; index <= span.to - SHORT_WORDS; index += 1) {
    if (index - from < SHORT_WORDS || !isStart(index)) continue;
    spans.push({ from, to: index });
    from = index;
  }
  spans.push({ from, to: span.to });
  return spans;
}

function isStart(words: readonly string[], index: number): boolean {
  const [first = "", before = "", word = "", next = ""] = words.slice(index - 2, index + 2);
  // Cuts as in "yes we will | we decided …" and "… is ready | thank you …".
  if (PERSON.has(word) && AUXILIARY.has(before) && PERSON.has(first)) return true;
  if (word === "thank" && next === "you") return true;
  const isFree = !QUESTION_WORD.has(before) && !SUBJECT.has(before) && !AUXILIARY.has(before);
  return isFree && isQuestion([word, next]);
}

/** True when words without punctuation begin like a question: an auxiliary before its subject. */
export function isQuestion([first = "", second = ""]: readonly string[]): boolean {
  return AUXILIARY.has(first.toLowerCase()) && SUBJECT.has(second.toLowerCase());
}

function cutLong(words: readonly string[], span: WordSpan): WordSpan[] {
  return cutAt(
    span,
    (index) => CONJUNCTION.has(words[index] ?? "") && SUBJECT.has(words[index + 1] ?? ""),
  );
}
