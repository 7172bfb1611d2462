import type { OpeningPosition } from "../../src/recognition/audio-source.ts";

/** Of a session's first reading, from its newest checkpoint at or before `position`. */
export function beginningOf(
  sessionId: string,
  position = Number.MAX_SAFE_INTEGER,
): OpeningPosition {
  return { sessionId, attempt: 1, checkpointAttempt: 1, position };
}
