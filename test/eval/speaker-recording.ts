import type { SpokenTurn } from "./diarisation-score.ts";

/** A recording with who speaks when; its samples, 16 kHz mono, are read when they are needed. */
export interface SpeakerRecording {
  set: string;
  name: string;
  load: () => Promise<{ pcm: Int16Array; reference: readonly SpokenTurn[] }>;
}
