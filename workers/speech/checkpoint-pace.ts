import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";

/** Audio after which a final brings a checkpoint again, in samples. */
export const CHECKPOINT_INTERVAL = 20 * SESSION_RATE;

/**
 * Decides which finals bring a checkpoint. Each costs about ten kilobytes in the database, and
 * audio after the newest one is read again when a worker is lost: 20 s take a few seconds to read.
 * Counted from the previous checkpoint, so that a resumed reading makes the next ones at the same
 * places.
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

  /** True when so much was read since the newest one that a place for it must be made. */
  isOverdue(position: number): boolean {
    return position - this.#newest >= 3 * CHECKPOINT_INTERVAL;
  }

  given(position: number): void {
    this.#newest = position;
  }
}
