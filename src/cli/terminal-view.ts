import type { Change, Line, Transcript } from "./transcript.ts";
import { clockTime, lineRows, printable } from "./transcript-line.ts";
import type { TextOutput, TranscriptView } from "./transcript-view.ts";

const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;
/** Rows kept free, so that redrawing never reaches the terminal's first row. */
const SPARE_ROWS = 3;

/**
 * Redraws the newest utterances in place: interim text gives way to its final, and a speaker's
 * label that is revised changes where it stands. Older lines scroll away; a revision of one of
 * those is told in a line of its own.
 */
export class TerminalView implements TranscriptView {
  readonly #output: TextOutput;
  readonly #colour: boolean;
  readonly #scrolled = new Set<string>();
  #drawnRows = 0;
  /** Said since the last drawing: printed with the next, above what moves. */
  #remarks: string[] = [];

  constructor(output: TextOutput, colour: boolean) {
    this.#output = output;
    this.#colour = colour;
  }

  update(transcript: Transcript, change: Change, footer?: string): void {
    this.#draw(transcript, this.#notices(transcript, change), footer);
  }

  say(remark: string): void {
    this.#remarks.push(printable(remark));
  }

  close(transcript: Transcript): void {
    const rows = this.#live(transcript).flatMap((line) => this.#rows(transcript, line, false));
    this.#replace([...this.#remarks.splice(0), ...rows], []);
  }

  #draw(transcript: Transcript, notices: readonly string[], footer?: string): void {
    const finals = this.#live(transcript).map((line) => ({
      line,
      rows: this.#rows(transcript, line, false),
    }));
    const moving = [
      ...transcript.interims.flatMap((line) => this.#rows(transcript, line, true)),
      ...(footer === undefined ? [] : [footer]),
    ];
    const fixed = [...this.#remarks.splice(0), ...notices];
    const most = Math.max(1, (this.#output.rows ?? DEFAULT_ROWS) - SPARE_ROWS);
    moving.splice(0, moving.length - most);
    const room = most - moving.length;
    const height = () => finals.reduce((sum, { rows }) => sum + rows.length, 0);
    while (finals.length > 0 && height() > room) {
      const oldest = finals.shift();
      if (oldest === undefined) break;
      this.#scrolled.add(oldest.line.id);
      fixed.push(...oldest.rows);
    }
    this.#replace(fixed, [...finals.flatMap(({ rows }) => rows), ...moving]);
  }

  /** Wipes what was drawn in place, lets `fixed` scroll, draws `live` for the next time. */
  #replace(fixed: readonly string[], live: readonly string[]): void {
    const wipe = this.#drawnRows > 0 ? `\u001b[${this.#drawnRows}A\r\u001b[J` : "";
    this.#output.write(wipe + [...fixed, ...live].map((row) => `${row}\n`).join(""));
    this.#drawnRows = live.length;
  }

  #live(transcript: Transcript): Line[] {
    return transcript.finals.filter((line) => !this.#scrolled.has(line.id));
  }

  #notices(transcript: Transcript, { relabelled }: Change): string[] {
    return relabelled
      .filter(({ line }) => this.#scrolled.has(line.id))
      .map(({ line, from }) => {
        const name = printable(transcript.nameOf(line.speaker));
        return `${clockTime(line.start)}  ${name}  (was ${from})`;
      });
  }

  #rows(transcript: Transcript, line: Line, interim: boolean): string[] {
    const columns = this.#output.columns ?? DEFAULT_COLUMNS;
    const style = { columns, colour: this.#colour, interim };
    return lineRows(line, transcript.nameOf(line.speaker), style);
  }
}
