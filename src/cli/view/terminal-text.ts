import stringWidth from "string-width";

const GRAPHEMES = new Intl.Segmenter();
const CUT = "…";

/** Width of a text in terminal columns: wide characters take two, escape sequences none. */
export function columnsOf(text: string): number {
  return stringWidth(text);
}

/** Cuts a text to this many columns. */
export function fitted(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  const [kept] = split(text, columns - columnsOf(CUT));
  return columns < 1 ? "" : kept + CUT;
}

/** Wraps a text to rows of at most this many columns, between words where that is possible. */
export function wrapped(text: string, columns: number): string[] {
  const rows: string[] = [];
  let row = "";
  for (const word of text.split(/\s+/)) {
    if (row !== "" && columnsOf(row) + 1 + columnsOf(word) > columns) {
      rows.push(row);
      row = "";
    }
    row = row === "" ? word : `${row} ${word}`;
    while (columnsOf(row) > columns) {
      const [full, rest] = split(row, columns);
      if (rest === "") break;
      rows.push(full);
      row = rest;
    }
  }
  return [...rows, row];
}

/** Splits off the part that fits, at least one character. */
function split(text: string, columns: number): [string, string] {
  let width = 0;
  for (const { segment, index } of GRAPHEMES.segment(text)) {
    width += columnsOf(segment);
    if (width > columns && index > 0) return [text.slice(0, index), text.slice(index)];
  }
  return [text, ""];
}
