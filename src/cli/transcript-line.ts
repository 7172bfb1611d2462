import { styleText } from "node:util";
import { columnsOf, fitted, wrapped } from "./terminal-text.ts";

const COLOURS = ["cyan", "yellow", "magenta", "green", "blue", "red"] as const;
const INDENT = 2;
/** With fewer columns left beside the name, the text stands below it. */
const NARROWEST = 10;
/** A name takes no more than this share of a row. */
const NAME_SHARE = 1 / 3;

/** `00:12`, from an hour on `1:00:12`. */
export function clockTime(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const two = (value: number) => String(value).padStart(2, "0");
  const minutes = Math.floor(whole / 60);
  const clock = `${two(minutes % 60)}:${two(whole % 60)}`;
  return minutes < 60 ? clock : `${Math.floor(minutes / 60)}:${clock}`;
}

/** Control characters of foreign text must not reach the terminal. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}+/gu, " ");
}

export interface LineStyle {
  /** Of the terminal; every row is narrower. */
  readonly columns: number;
  readonly colour: boolean;
  readonly interim: boolean;
}

/** The rows of one utterance: `00:12  S1  text`, wrapped between words under the text. */
export function lineRows(
  line: { readonly start: number; readonly text: string; readonly stableWords?: number },
  speaker: string,
  { columns, colour, interim }: LineStyle,
): string[] {
  const gap = " ".repeat(INDENT);
  const time = clockTime(line.start) + gap;
  const widest = Math.max(INDENT, Math.floor(columns * NAME_SHARE));
  const name = fitted(printable(speaker), widest).padEnd(2) + gap;
  const margin = time.length + columnsOf(name);
  const text = printable(line.text) + (interim ? " …" : "");
  const paint = colour && interim ? dimmedAfter(line.stableWords ?? 0) : (row: string) => row;
  const room = columns - margin - 1;
  if (room < NARROWEST) {
    const rows = wrapped(text, Math.max(1, columns - INDENT - 1));
    return [fitted(time + name.trimEnd(), columns - 1), ...rows.map((row) => gap + paint(row))];
  }
  const head = time + (colour ? styleText(colourOf(speaker), name, RAW) : name);
  return wrapped(text, room).map((row, i) => (i === 0 ? head : " ".repeat(margin)) + paint(row));
}

/** Dims, row after row, all but the first words. */
function dimmedAfter(words: number): (row: string) => string {
  let left = words;
  return (row) => {
    const parts = row.split(" ");
    const [plain, dim] = [parts.slice(0, left), parts.slice(left)];
    left = Math.max(0, left - parts.length);
    const painted = dim.length === 0 ? [] : [styleText("dim", dim.join(" "), RAW)];
    return [...plain, ...painted].join(" ");
  };
}

/** Whether colour is wanted is decided by the caller, not by styleText. */
const RAW = { validateStream: false } as const;

function colourOf(speaker: string): (typeof COLOURS)[number] {
  const number = Number(/^S(\d+)$/.exec(speaker)?.[1] ?? [...speaker].length);
  return COLOURS[(number - 1 + COLOURS.length) % COLOURS.length] ?? "cyan";
}
