import { SessionTracker } from "./session-tracker.ts";
import type { SpeakerTracker } from "./speaker-tracker.ts";

/**
 * A tracker for one session, from its beginning or from `checkpoint`. Synchronous and free of
 * randomness. Throws RangeError when the checkpoint is none of this version's.
 */
export function createSpeakerTracker(checkpoint?: Uint8Array): SpeakerTracker {
  return new SessionTracker(checkpoint);
}
