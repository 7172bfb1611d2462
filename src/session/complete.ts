import { speakersHeard } from "./segments.ts";
import type { Turn } from "./turn.ts";

/** Ends the job and the session: everything was read, or there was nothing to read. */
export function complete(turn: Turn): void {
  const { jobId, redo, segments, timeline } = turn.state;
  const attempt = redo?.attempt ?? turn.state.attempt;
  turn.emit({
    type: "JobCompleted",
    jobId,
    attempt,
    segmentCount: segments.length,
    speakerCount: speakersHeard(segments),
    durationMs: Math.round(timeline.position / 16),
  });
  if (turn.state.phase !== "completed") turn.emit({ type: "SessionCompleted" });
}
