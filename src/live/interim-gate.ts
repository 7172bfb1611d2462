import type { DurableFrame, HeartbeatFrame, InterimResultsFrame } from "../wire/live-frames.ts";

/** So many redactions are kept in mind for each session that is followed. */
const MAX_REDACTIONS = 64;

type Redacted = Extract<DurableFrame, { type: "Redacted" }>;

/**
 * Whether what is being said may still be shown. A host that was cut off, or slept, tells afterwards
 * what it heard before: words that have become final since, and words that were taken out.
 */
export class InterimGate {
  #redactions: Redacted[] = [];
  /** Seconds of the timeline up to which words are final. */
  #finalTo = 0;
  #isDeleted = false;

  /** Told of each durable frame, in order, and of how the session stands. */
  note(frame: DurableFrame | HeartbeatFrame): void {
    if (frame.type === "Results")
      this.#finalTo = Math.max(this.#finalTo, frame.start + frame.duration);
    if (frame.type === "Heartbeat") this.#finalTo = Math.max(this.#finalTo, frame.audio_finalised);
    if (frame.type === "Redacted")
      this.#redactions = [...this.#redactions, frame].slice(-MAX_REDACTIONS);
    if (frame.type === "SessionStatus" && frame.status === "deleted") this.close();
  }

  /** There is no such session any more. */
  close(): void {
    this.#isDeleted = true;
  }

  admits(interim: InterimResultsFrame): boolean {
    if (this.#isDeleted || interim.start + interim.duration <= this.#finalTo) return false;
    return !this.#redactions.some((redacted) => covers(redacted, interim));
  }
}

/** What no known voice says may be what the redacted one says. */
function covers({ span, speaker }: Redacted, interim: InterimResultsFrame): boolean {
  const { start, duration, speaker: by } = interim;
  if (start >= span.end || start + duration <= span.start) return false;
  return speaker === undefined || speaker === by || !/^S\d+$/.test(by);
}
