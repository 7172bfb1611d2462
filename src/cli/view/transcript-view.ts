import type { Change, Transcript } from "./transcript.ts";

/** Shows a transcript as it grows. */
export interface TranscriptView {
  /** After each frame; `footer` is a row under the text, for those who can show one. */
  update(transcript: Transcript, change: Change, footer?: string): void;
  /** A remark about the connection, in a line of its own. */
  say(remark: string): void;
  /** Leaves the final text standing, without interims and footer. */
  close(transcript: Transcript): void;
}

/** What a view writes to: a terminal, a pipe, or a test. */
export interface TextOutput {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}
