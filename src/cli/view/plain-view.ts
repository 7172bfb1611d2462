import { clockTime } from "../../wire/clock-time.ts";
import type { Change, Transcript } from "./transcript.ts";
import { lineRows, printable } from "./transcript-line.ts";
import type { TextOutput, TranscriptView } from "./transcript-view.ts";

/** One line per final, and one for each label that changed afterwards; for pipes and log files. */
export class PlainView implements TranscriptView {
  readonly #output: TextOutput;

  constructor(output: TextOutput) {
    this.#output = output;
  }

  update(transcript: Transcript, { finals, relabelled }: Change): void {
    const style = { columns: Number.POSITIVE_INFINITY, colour: false, interim: false };
    for (const line of finals) {
      for (const row of lineRows(line, transcript.nameOf(line.speaker), style)) {
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
