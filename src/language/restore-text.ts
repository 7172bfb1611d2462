import { isProperName, placesFrom } from "./proper-names.ts";
import { isQuestion, splitSentences } from "./sentences.ts";

/** A word as it was recognised. Times in seconds. */
interface HeardWord {
  text: string;
  start: number;
  end: number;
}

/** What one speaker said in a row. */
interface HeardTurn {
  speaker: string;
  words: readonly HeardWord[];
}

/** Pauses within a turn of at least so many seconds end a sentence. */
const SENTENCE_PAUSE = 0.7;
/** Without such a pause the next turn of the same speaker may go on with the sentence. */
const LONGEST_BREAK = 2;
/** After these words a sentence goes on, whatever the pause. */
const LINKING = new Set(
  `a an the of to and or but with in on at for from by as if because than into about over under that
  my your our their his its very every which whose where`.split(/\s+/),
);
/** After these it goes on if the pause is short. */
const OPEN = new Set(
  `is are was were be been am has have had will would can could should may might must shall do does
  did i we he she they not no`.split(/\s+/),
);
const INTERROGATIVE = new Set("what when where which who whom whose why how".split(" "));
const AUXILIARY = new Set(
  "am are can could did do does has have is may might shall should was were will would".split(" "),
);
/** Before a subject these are followed by a comma: "yes, we will". */
const ANSWER = new Set("yes no okay well oh yeah".split(" "));
const SUBJECT = new Set(
  "i we you he she it they that there this i'm i'll i've we're it's".split(" "),
);
const FIRST_PERSON = /^i(?:'(?:m|ll|ve|d|s))?$/;
/** Months that are words as well: only after these, or before a number, are they written large. */
const MONTH = new Set(["march", "may"]);
const BEFORE_MONTH = new Set(
  "in of from between before through till last next since until by this early late during".split(
    " ",
  ),
);
const ORDINAL =
  /^(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\w+teenth|\w+ieth|twenty|thirty)$/;

/**
 * Capitals and sentence marks that were not recognised, put where the words and the pauses between
 * them tell: the words of each turn again, as they are written, one for one. Words that have
 * capitals or marks already stay as they are.
 *
 * @param names words and phrases as they are written, of a vocabulary or of speakers
 */
export function restoreText(turns: readonly HeardTurn[], names: readonly string[]): string[][] {
  const spelling = new Spelling(names);
  let isOpen = false;
  return turns.map(({ speaker, words }, place) => {
    if (words.length === 0) return [];
    const next = turns[place + 1];
    const goesOn = next?.speaker === speaker && continues(words, next.words);
    const restored = restoreTurn(words, spelling, { isOpen, goesOn });
    isOpen = goesOn;
    return restored;
  });
}

function continues(words: readonly HeardWord[], next: readonly HeardWord[]): boolean {
  const [last, first] = [words.at(-1), next[0]];
  if (last === undefined || first === undefined) return false;
  if (ANSWER.has(first.text.toLowerCase())) return false;
  const [word, pause] = [last.text.toLowerCase(), first.start - last.end];
  return LINKING.has(word) ? pause < LONGEST_BREAK : OPEN.has(word) && pause < SENTENCE_PAUSE;
}

interface Bounds {
  /** The sentence before the turn goes on in it. */
  isOpen: boolean;
  /** The turn's last sentence goes on in the next one. */
  goesOn: boolean;
}

function restoreTurn(
  words: readonly HeardWord[],
  spelling: Spelling,
  { isOpen, goesOn }: Bounds,
): string[] {
  const texts = words.map(({ text }) => text);
  if (texts.some((text) => /\p{Lu}|[.?!]$/u.test(text))) return texts;
  const written = spelling.write(texts);
  let at = 0;
  const sentences = splitSentences(texts.join(" "), pausesOf(words));
  for (const [place, sentence] of sentences.entries()) {
    const said = sentence.split(" ");
    const isFirst = place === 0;
    const isLast = place === sentences.length - 1;
    if (!(isFirst && isOpen)) written[at] = capitalised(written[at] ?? "");
    if (ANSWER.has(said[0] ?? "") && SUBJECT.has(said[1] ?? "")) written[at] += ",";
    const end = at + said.length - 1;
    if (!(isLast && goesOn)) written[end] += isAsked(said) ? "?" : ".";
    at += said.length;
  }
  return written;
}

function pausesOf(words: readonly HeardWord[]): number[] {
  return words.flatMap(({ start }, at) => {
    const before = words[at - 1];
    if (before === undefined || start - before.end < SENTENCE_PAUSE) return [];
    return LINKING.has(before.text) ? [] : [at];
  });
}

function isAsked(words: readonly string[]): boolean {
  const from = ANSWER.has(words[0] ?? "") || words[0] === "and" || words[0] === "so" ? 1 : 0;
  const [first = "", second = ""] = words.slice(from);
  if (isQuestion([first, second])) return true;
  return INTERROGATIVE.has(first) && (AUXILIARY.has(second) || /^(?:many|much|long)$/.test(second));
}

function capitalised(word: string): string {
  return word.charAt(0).toLocaleUpperCase("en") + word.slice(1);
}

/** How words are written wherever they stand in a sentence. */
class Spelling {
  /** By their first word, in small letters, the names as lists of words as they are written. */
  readonly #names = new Map<string, string[][]>();

  constructor(names: readonly string[]) {
    for (const name of names) {
      const words = name.split(/[\s-]+/u).filter((word) => word !== "");
      const [first] = words;
      if (first === undefined || !/\p{Lu}/u.test(name)) continue;
      const key = first.toLowerCase();
      const list = this.#names.get(key) ?? [];
      this.#names.set(
        key,
        [...list, words].sort((one, other) => other.length - one.length),
      );
    }
  }

  write(words: readonly string[]): string[] {
    const written = [...words];
    for (let at = 0; at < words.length; ) {
      const name = this.#nameAt(words, at);
      if (name !== undefined) written.splice(at, name.length, ...name);
      else written[at] = usual(words, at);
      at += name?.length ?? 1;
    }
    return written;
  }

  #nameAt(words: readonly string[], at: number): string[] | undefined {
    const first = words[at] ?? "";
    return [...(this.#names.get(first) ?? []), ...placesFrom(first)].find((name) =>
      name.every((word, offset) => word.toLowerCase() === words[at + offset]),
    );
  }
}

function usual(words: readonly string[], at: number): string {
  const word = words[at] ?? "";
  if (FIRST_PERSON.test(word) || isProperName(word)) return capitalised(word);
  const [owner, ending] = word.split(/(?='s$)/);
  if (ending !== undefined && isProperName(owner ?? "")) return capitalised(word);
  if (!MONTH.has(word)) return word;
  const isMonth = BEFORE_MONTH.has(words[at - 1] ?? "") || ORDINAL.test(words[at + 1] ?? "");
  return isMonth ? capitalised(word) : word;
}
