import type { TextOutput } from "./plain-view.ts";
import { columnsOf } from "./terminal-text.ts";

const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

/** A terminal that does not tell its size, or calls it nothing, is taken for a usual one. */
export function sizeOf({ columns, rows }: TextOutput): { columns: number; rows: number } {
  return { columns: columns || DEFAULT_COLUMNS, rows: rows || DEFAULT_ROWS };
}

/**
 * The lowest rows of a terminal, which are drawn again and again; what is to stay goes above them.
 * Everything that a command says while they stand must pass through here, or it is drawn over.
 */
export class LiveArea {
  readonly #output: TextOutput;
  #live: readonly string[] = [];
  #columns = 0;

  constructor(output: TextOutput) {
    this.#output = output;
  }

  /** Rows that stay, and the live rows from now on; each of these narrower than the terminal. */
  show(fixed: readonly string[], live: readonly string[] = this.#live): void {
    const { columns } = sizeOf(this.#output);
    const isSame =
      live.length === this.#live.length && live.every((row, n) => row === this.#live[n]);
    if (fixed.length === 0 && isSame && columns === this.#columns) return;
    this.#output.write(this.#wipe(columns) + [...fixed, ...live].map((row) => `${row}\n`).join(""));
    this.#live = live;
    this.#columns = columns;
  }

  /** From the row below the live ones, where the cursor stands, back to the first of them. */
  #wipe(columns: number): string {
    if (this.#live.length === 0) return "";
    // A terminal that became narrower has broken rows in two.
    const height = this.#live.reduce(
      (sum, row) => sum + Math.max(1, Math.ceil(columnsOf(row) / columns)),
      0,
    );
    return `\u001b[${height}A\r\u001b[J`;
  }
}
