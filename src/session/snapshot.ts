import { packSegments, unpackSegments } from "./packed-segments.ts";
import type { SessionState } from "./state.ts";

/**
 * Version of SessionState as it is stored. It rises with every change that older snapshots do not
 * fit: a snapshot only saves time, and one of another version is left aside, as every event is kept.
 */
export const SNAPSHOT_VERSION = 5;

interface Packed extends Omit<SessionState, "segments"> {
  segments: string;
}

/** The state as it is stored, as JSON. */
export function packState(state: SessionState): unknown {
  const packed: Packed = { ...state, segments: packSegments(state.segments) };
  return packed;
}

/** May keep parts of what it is given. Throws on what `packState` of this version has not written. */
export function unpackState(stored: unknown): SessionState {
  const packed = stored as Packed;
  return { ...packed, segments: unpackSegments(packed.segments) };
}
