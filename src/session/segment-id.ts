import { derivedId } from "../base/ids.ts";

/** The id of a segment: the same for every reading of the same attempt. */
export function segmentId(sessionId: string, attempt: number, start: number): string {
  return derivedId(sessionId, attempt, start);
}
