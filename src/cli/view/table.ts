import { columnsOf, fitted } from "./terminal-text.ts";

/** Rows of a table with a head; columns are as wide as their widest cell, the last is not padded. */
export function tableRows(
  head: readonly string[],
  cells: readonly (readonly string[])[],
): string[] {
  const widths = head.map((title, column) =>
    Math.max(columnsOf(title), ...cells.map((row) => columnsOf(row[column] ?? ""))),
  );
  const line = (row: readonly string[]) =>
    row
      .map(
        (cell, column) => cell + " ".repeat(Math.max(0, (widths[column] ?? 0) - columnsOf(cell))),
      )
      .join("  ")
      .trimEnd();
  return [line(head), ...cells.map(line)];
}

/** A table's rows for an output: cut to a terminal's width, whole for a pipe or a file. */
export function tableText(
  head: readonly string[],
  cells: readonly (readonly string[])[],
  { isTTY, columns }: { readonly isTTY?: boolean; readonly columns?: number },
): string {
  const width = isTTY === true && columns ? columns : Number.POSITIVE_INFINITY;
  return tableRows(head, cells)
    .map((row) => `${fitted(row, width)}\n`)
    .join("");
}

/** A time of the service, RFC 3339, as `2026-01-31 09:30` of this machine's time zone. */
export function localMinute(time: string | undefined): string {
  if (time === undefined) return "";
  const at = new Date(time);
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
}
