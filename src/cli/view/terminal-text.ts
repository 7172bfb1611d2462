import stringWidth from "string-width";

const GRAPHEMES = new Intl.Segmenter();
const CUT = "…";

/** How many columns of a terminal the text takes: wide characters two, escape sequences none. */
export function columnsOf(text: string): number {
  return stringWidth(text);
}

/** The text, cut so that it takes no more than so many columns. */
export function fitted(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  const [kept] = split(text, columns - columnsOf(CUT));
  return columns < 1 ? "" : kept + CUT;
}

/** The text in rows of so many columns at most, cut between words where that is possible. */
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

/** What fits, but one character at least, and the rest. */
function split(text: string, columns: number): [string, string] {
  let width = 0;
  for (const { segment, index } of GRAPHEMES.segment(text)) {
    width += columnsOf(segment);
    if (width > columns && index > 0) return [text.slice(0, index), text.slice(index)];
  }
  return [text, ""];
}
