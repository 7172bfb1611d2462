import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";

/** Sound after which a final brings a checkpoint again. */
export const CHECKPOINT_INTERVAL = 20 * SESSION_RATE;

/**
 * When finals bring a checkpoint. Each costs the record some ten kilobytes, and what lies behind the
 * newest is read again when a worker is lost: the 20 s are a few seconds of reading. Counted from
 * the one before, so that a reading that resumes there gives the next ones where the first did.
 */
export class CheckpointPace {
  #newest: number;

  /** @param position where the reading begins */
  constructor(position: number) {
    this.#newest = position;
  }

  isDue(position: number): boolean {
    return position - this.#newest >= CHECKPOINT_INTERVAL;
  }

  given(position: number): void {
    this.#newest = position;
  }
}
