/** How often audio is tried at which readings break, until it counts as unreadable. */
export const MAX_TRIES = 3;

/** What a chunk that no reading survives is failed with. */
export const AUDIO_UNREADABLE = "audio_unreadable";

/** A chunk that was in work when a reading broke. */
export interface Suspect {
  sequence: number;
  /** How often in a row, without getting further. */
  breaks: number;
  /** How far the reading had come, in samples at 16 kHz. */
  position: number;
}
