import type { TextOutput } from "./plain-view.ts";
import { columnsOf } from "./terminal-text.ts";

const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

/** The terminal's size; the default when it reports none or 0. */
export function sizeOf({ columns, rows }: TextOutput): { columns: number; rows: number } {
  return { columns: columns || DEFAULT_COLUMNS, rows: rows || DEFAULT_ROWS };
}

/**
 * The last rows of a terminal, which are redrawn; permanent output goes above them. While they are
 * shown, a command must write through this class, or its output is overwritten.
 */
export class LiveArea {
  readonly #output: TextOutput;
  #live: readonly string[] = [];
  #columns = 0;

  constructor(output: TextOutput) {
    this.#output = output;
  }

  /**
   * Adds permanent rows and sets the live rows; each live row must be narrower than the terminal.
   */
  show(fixed: readonly string[], live: readonly string[] = this.#live): void {
    const { columns } = sizeOf(this.#output);
    const isSame =
      live.length === this.#live.length && live.every((row, n) => row === this.#live[n]);
    if (fixed.length === 0 && isSame && columns === this.#columns) return;
    this.#output.write(this.#wipe(columns) + [...fixed, ...live].map((row) => `${row}\n`).join(""));
    this.#live = live;
    this.#columns = columns;
  }

  /**
   * Moves from the row below the live ones, where the cursor is, back to the first of them, and
   * clears.
   */
  #wipe(columns: number): string {
    if (this.#live.length === 0) return "";
    // A terminal that became narrower has wrapped its rows.
    const height = this.#live.reduce(
      (sum, row) => sum + Math.max(1, Math.ceil(columnsOf(row) / columns)),
      0,
    );
    return `\u001b[${height}A\r\u001b[J`;
  }
}
