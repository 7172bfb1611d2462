import { clockTime } from "../../wire/clock-time.ts";
import { LiveArea, sizeOf } from "./live-area.ts";
import type { TextOutput, TranscriptView } from "./plain-view.ts";
import { fitted } from "./terminal-text.ts";
import type { Change, Line, Transcript } from "./transcript.ts";
import { lineRows, printable } from "./transcript-line.ts";

/** Rows kept free, so that redrawing never reaches the terminal's first row. */
const SPARE_ROWS = 3;

/**
 * Redraws the newest utterances in place: finals replace interim text, and a revised speaker label
 * changes where it is. Older lines scroll away; a revision of one of them is shown in a separate
 * line.
 */
export class TerminalView implements TranscriptView {
  readonly #output: TextOutput;
  readonly #area: LiveArea;
  readonly #colour: boolean;
  readonly #scrolled = new Set<string>();

  constructor(output: TextOutput, colour: boolean) {
    this.#output = output;
    this.#area = new LiveArea(output);
    this.#colour = colour;
  }

  update(transcript: Transcript, change: Change, footer?: string): void {
    this.#draw(transcript, this.#notices(transcript, change), footer);
  }

  say(remark: string): void {
    this.#area.show([printable(remark)]);
  }

  close(transcript: Transcript): void {
    const rows = this.#live(transcript).flatMap((line) => this.#rows(transcript, line, false));
    this.#area.show(rows, []);
  }

  #draw(transcript: Transcript, notices: readonly string[], footer?: string): void {
    const finals = this.#live(transcript).map((line) => ({
      line,
      rows: this.#rows(transcript, line, false),
    }));
    const moving = [
      ...transcript.interims.flatMap((line) => this.#rows(transcript, line, true)),
      ...(footer === undefined ? [] : [fitted(footer, sizeOf(this.#output).columns - 1)]),
    ];
    const fixed = [...notices];
    const most = Math.max(1, sizeOf(this.#output).rows - SPARE_ROWS);
    moving.splice(0, Math.max(0, moving.length - most));
    const room = most - moving.length;
    const height = () => finals.reduce((sum, { rows }) => sum + rows.length, 0);
    while (finals.length > 0 && height() > room) {
      const oldest = finals.shift();
      if (oldest === undefined) break;
      this.#scrolled.add(oldest.line.id);
      fixed.push(...oldest.rows);
    }
    this.#area.show(fixed, [...finals.flatMap(({ rows }) => rows), ...moving]);
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
    const { columns } = sizeOf(this.#output);
    const besides = transcript.besides(line);
    const style = { columns, colour: this.#colour, interim, besides };
    return lineRows(line, transcript.nameOf(line.speaker), style);
  }
}
