import type { SummariseRequest, Summary } from "../../wire/gen/voice/v1/text.ts";

export interface SummariseOptions {
  signal: AbortSignal;
  onProgress(fraction: number): void;
}

/** Port: makes a summary of words. Equal requests give equal summaries. */
export interface Summariser {
  /**
   * Rejects with `overloaded` when nobody can take it now, `unavailable` when
   * whoever took it was lost or `signal` aborted, `timeout`, or `bad_request`.
   */
  summarise(request: SummariseRequest, options: SummariseOptions): Promise<Summary>;
}
