import { clockTime } from "../../wire/clock-time.ts";
import type { Change, Transcript } from "./transcript.ts";
import { lineRows, printable } from "./transcript-line.ts";

/** Shows a transcript as it grows. */
export interface TranscriptView {
  /** Called after each frame; `footer` is a row below the text, for views that can show one. */
  update(transcript: Transcript, change: Change, footer?: string): void;
  /** Shows a remark about the connection in a separate line. */
  say(remark: string): void;
  /** Shows the final text, without interim results and footer. */
  close(transcript: Transcript): void;
}

/** The output of a view: a terminal, a pipe, or a test. */
export interface TextOutput {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

/**
 * Writes one line per final, and one for each label that changes afterwards; for pipes and log
 * files.
 */
export class PlainView implements TranscriptView {
  readonly #output: TextOutput;

  constructor(output: TextOutput) {
    this.#output = output;
  }

  update(transcript: Transcript, { finals, relabelled }: Change): void {
    const style = { columns: Number.POSITIVE_INFINITY, colour: false, interim: false };
    for (const line of finals) {
      const shown = { ...style, besides: transcript.besides(line) };
      for (const row of lineRows(line, transcript.nameOf(line.speaker), shown)) {
        this.#output.write(`${row}\n`);
      }
    }
    for (const { line, from } of relabelled) {
      const name = printable(transcript.nameOf(line.speaker));
      this.#output.write(`${clockTime(line.start)}  ${name}  (was ${from})\n`);
    }
  }

  say(remark: string): void {
    this.#output.write(`${printable(remark)}\n`);
  }

  close(): void {}
}
