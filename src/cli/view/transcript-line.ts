import { styleText } from "node:util";
import { clockTime } from "../../wire/clock-time.ts";
import { withoutBreaks } from "../../wire/one-line.ts";
import { markUnclear } from "../../wire/unclear-words.ts";
import { markUnsure } from "../../wire/unsure-speakers.ts";
import { columnsOf, fitted, wrapped } from "./terminal-text.ts";
import type { Line } from "./transcript.ts";

const COLOURS = ["cyan", "yellow", "magenta", "green", "blue", "red"] as const;
const INDENT = 2;
/** With fewer columns left beside the name, the text is placed below it. */
const NARROWEST = 10;
/** Largest share of a row for a name. */
const NAME_SHARE = 1 / 3;

/** Foreign text as it may reach the terminal: in one line, without control characters. */
export function printable(text: string): string {
  return withoutBreaks(text).replace(/\p{Bidi_Control}+/gu, "");
}

/** Foreign text of many lines as it may reach the terminal: without other control characters. */
export function printableText(text: string): string {
  return text.split("\n").map(printable).join("\n");
}

interface LineStyle {
  /** The width of the terminal; every row is narrower. */
  readonly columns: number;
  readonly colour: boolean;
  readonly interim: boolean;
  /** Names of those who speak at the same time. */
  readonly besides?: readonly string[];
}

/**
 * The rows of one utterance: `00:12  S1  text`, wrapped between words and indented. Unclear words
 * are in brackets, `[tunisia and?]`; with colour they are also dimmed, as are words that may still
 * change. A name with a question mark, `S1?`, is a guess. Who speaks within it as well is told behind
 * the words, in parentheses.
 */
export function lineRows(
  line: Pick<Line, "start" | "text" | "stableWords" | "unclear" | "unsure">,
  speaker: string,
  { columns, colour, interim, besides = [] }: LineStyle,
): string[] {
  const gap = " ".repeat(INDENT);
  const time = clockTime(line.start) + gap;
  const widest = Math.max(INDENT, Math.floor(columns * NAME_SHARE));
  const unsure = line.unsure === true;
  const shown = fitted(printable(speaker), unsure ? widest - 1 : widest);
  const name = markUnsure(shown, unsure).padEnd(2) + gap;
  const margin = time.length + columnsOf(name);
  const unclear = line.unclear ?? [];
  const said = wordsOf(line.text);
  const text = markUnclear(said, unclear) + (interim ? " …" : "") + remarkOn(besides);
  const stable = interim ? (line.stableWords ?? 0) : Number.POSITIVE_INFINITY;
  const faint = new Set(unclear);
  const paint = colour
    ? dimmed((word) => word >= Math.min(stable, said.length) || faint.has(word))
    : (row: string) => row;
  const room = columns - margin - 1;
  if (room < NARROWEST) {
    const rows = wrapped(text, Math.max(1, columns - INDENT - 1));
    return [fitted(time + name.trimEnd(), columns - 1), ...rows.map((row) => gap + paint(row))];
  }
  const head = time + (colour ? styleText(colourOf(speaker), name, RAW) : name);
  return wrapped(text, room).map((row, i) => (i === 0 ? head : " ".repeat(margin)) + paint(row));
}

function remarkOn(besides: readonly string[]): string {
  if (besides.length === 0) return "";
  const verb = besides.length === 1 ? "speaks" : "speak";
  return ` (${besides.map(printable).join(" and ")} ${verb} at the same time)`;
}

/** Dims words by their index, which is counted across rows. */
function dimmed(isDim: (word: number) => boolean): (row: string) => string {
  let before = 0;
  return (row) => {
    const words = row.split(" ");
    const runs: { dim: boolean; words: string[] }[] = [];
    for (const [at, word] of words.entries()) {
      const dim = isDim(before + at);
      const last = runs.at(-1);
      if (last?.dim === dim) last.words.push(word);
      else runs.push({ dim, words: [word] });
    }
    before += words.length;
    return runs
      .map(({ dim, words }) => (dim ? styleText("dim", words.join(" "), RAW) : words.join(" ")))
      .join(" ");
  };
}

function wordsOf(text: string): string[] {
  return printable(text)
    .split(/\s+/)
    .filter((word) => word !== "");
}

/** The caller decides whether colour is used, not styleText. */
const RAW = { validateStream: false } as const;

function colourOf(speaker: string): (typeof COLOURS)[number] {
  const number = Number(/^S(\d+)$/.exec(speaker)?.[1] ?? [...speaker].length);
  return COLOURS[(number - 1 + COLOURS.length) % COLOURS.length] ?? "cyan";
}
