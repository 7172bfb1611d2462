import type { ErrorCode } from "../base/errors.ts";

/** What the sender of a command was told. */
export type Outcome =
  | { ok: true; value: unknown }
  | { ok: false; code: ErrorCode; message: string };

export interface CommandOutcome {
  commandId: string;
  outcome: Outcome;
}

/** Far above what people ask of one actor while a command may still come again. */
const MAX_OUTCOMES = 4_096;

/** The newest outcomes of an actor's commands, for those that come again. */
export class Outcomes {
  readonly #known = new Map<string, Outcome>();

  get(commandId: string): Outcome | undefined {
    return this.#known.get(commandId);
  }

  add(outcomes: readonly CommandOutcome[]): void {
    for (const { commandId, outcome } of outcomes) this.#known.set(commandId, outcome);
    for (const commandId of this.#known.keys()) {
      if (this.#known.size <= MAX_OUTCOMES) break;
      this.#known.delete(commandId);
    }
  }
}
