import type { Outcome } from "./outcomes.ts";

/** Port: what the record knows of a command, for whoever waits in vain for its answer. */
export interface CommandRecord {
  /** The record's time, Unix milliseconds. Throws `unavailable`. */
  now(): Promise<number>;
  /**
   * What became of a command that must not be carried out after `deadline`. Waits for a batch that
   * is being written just now. Throws when the record cannot tell.
   */
  fate(sessionId: string, commandId: string, deadline: number): Promise<CommandFate>;
}

export interface CommandFate {
  /** Undefined when it was not carried out, nor refused, until now. */
  outcome: Outcome | undefined;
  /** Its deadline is over: what did not become of it by now never will. */
  isOver: boolean;
}
