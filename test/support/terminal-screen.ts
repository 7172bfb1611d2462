import xterm from "@xterm/headless";

/** A terminal emulator without a window: what is written to it, as a person would see it. */
export class TerminalScreen {
  readonly #terminal: InstanceType<typeof xterm.Terminal>;

  constructor(columns: number, rows: number) {
    const options = { cols: columns, rows, scrollback: 5_000, convertEol: true };
    this.#terminal = new xterm.Terminal({ ...options, allowProposedApi: true });
  }

  get columns(): number {
    return this.#terminal.cols;
  }

  get rows(): number {
    return this.#terminal.rows;
  }

  write(text: string | Uint8Array): void {
    this.#terminal.write(text);
  }

  /** Breaks and joins rows as terminals do. */
  async resize(columns: number, rows: number): Promise<void> {
    await this.settled();
    this.#terminal.resize(columns, rows);
  }

  /** Resolves when everything written so far is on the screen. */
  settled(): Promise<void> {
    return new Promise((done) => this.#terminal.write("", done));
  }

  /** Every row from the first that scrolled away to the last that holds something. */
  async lines(): Promise<string[]> {
    await this.settled();
    const { active } = this.#terminal.buffer;
    const rows = Array.from({ length: active.length }, (_, row) => {
      return active.getLine(row)?.translateToString(true) ?? "";
    });
    while (rows.at(-1) === "") rows.pop();
    return rows;
  }

  /** Of the cursor; the row counts those that scrolled away. */
  async cursor(): Promise<{ column: number; row: number }> {
    await this.settled();
    const { cursorX: column, cursorY, baseY } = this.#terminal.buffer.active;
    return { column, row: baseY + cursorY };
  }
}
