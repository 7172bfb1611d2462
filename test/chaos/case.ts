import type { SessionEvent } from "../../src/session/event.ts";
import type { Outcome } from "./outcome.ts";
import type { Recording } from "./recording.ts";

export interface StoredEvent {
  readonly seq: number;
  readonly payload: SessionEvent;
}

/** All that the judges of one session look at. */
export interface Case {
  readonly recording: Recording;
  readonly calm: Outcome;
  readonly found: Outcome;
  readonly events: readonly StoredEvent[];
  /** Words that may differ where late audio was read into a transcript that stood. */
  readonly seamWords: number;
}
