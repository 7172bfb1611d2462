import { isWithin } from "./redaction.ts";
import type { Turn } from "./turn.ts";

/**
 * A redaction of a speaker covers all that this voice says: segments that turn
 * out to be its own lose their words too. For whoever changed labels.
 */
export function redactCovered(turn: Turn): void {
  for (const { redactionId, byUserId, from, to, label } of [...turn.state.redactions]) {
    if (label === undefined || redactionId === undefined || byUserId === undefined) continue;
    const segmentIds = turn.state.segments
      .filter((mark) => mark.redacted !== true && isWithin(mark, from, to, label))
      .map((mark) => mark.id);
    if (segmentIds.length === 0) continue;
    turn.emit({ type: "SpanRedacted", redactionId, from, to, label, segmentIds, byUserId });
  }
}
