import type { ServerFrame } from "./frames.ts";

/** Where a viewer is in a session's durable events, so that each is taken once and none is missed. */
export class Position {
  #seq: number | undefined;
  #at: string | undefined;
  /** The newest durable `seq` that a heartbeat named. */
  #promised = 0;

  /**
   * `seq`: of the newest durable event that the viewer has, undefined for a snapshot first; `at`: of
   * that event, if it is known.
   */
  constructor(seq?: number, at?: string) {
    this.#seq = seq;
    this.#at = at;
  }

  /** What Subscribe says of the newest durable event that was taken; before the first nothing. */
  get from(): { from_seq?: number | undefined; from_at?: string | undefined } {
    return { from_seq: this.#seq, from_at: this.#at };
  }

  connected(): void {
    this.#promised = 0;
  }

  /** `seen` frames are left out; after a `gap` one connects anew, from `seq` on. */
  take(frame: ServerFrame): "next" | "seen" | "gap" {
    if (frame.type === "Snapshot") {
      this.#seq = frame.seq;
      this.#at = frame.seq_at;
      return "next";
    }
    if (frame.type === "Heartbeat") return this.#isTailLost(frame.seq) ? "gap" : "next";
    if (frame.type === "SessionEnded") return frame.seq > (this.#seq ?? 0) ? "gap" : "next";
    if (!("seq" in frame) || frame.seq === undefined) return "next";
    if (this.#seq !== undefined && frame.seq <= this.#seq) return "seen";
    if (this.#seq !== undefined && frame.seq > this.#seq + 1) return "gap";
    this.#seq = frame.seq;
    this.#at = "at" in frame ? frame.at : undefined;
    return "next";
  }

  /** A heartbeat may overtake the events that it counts, but not by a whole period. */
  #isTailLost(newest: number): boolean {
    const isLost = this.#seq !== undefined && this.#promised > this.#seq;
    this.#promised = newest;
    return isLost;
  }
}
