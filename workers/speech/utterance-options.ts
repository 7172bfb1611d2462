import type { Utterance } from "../../src/wire/gen/voice/v1/worker.ts";
import type { SpeechActivity } from "../audio/speech-activity.ts";
import type { SpeakerTracker } from "../speakers/speaker-tracker.ts";
import type { PauseState } from "./pause-wait.ts";
import type { Recogniser } from "./recogniser.ts";

/** What an UtteranceReader is made with. */
export interface UtteranceReaderOptions {
  position: number;
  recogniser: Recogniser;
  activity: Pick<SpeechActivity, "take" | "pass" | "skip" | "state">;
  tracker: SpeakerTracker;
  interimResults: boolean;
  /** What an earlier reading learnt of the pauses. */
  pauses: PauseState | undefined;
  /** True while so much audio waits that hypotheses are skipped. */
  isPressed: () => boolean;
  /** False to make a checkpoint with every final. */
  sparseCheckpoints: boolean;
  /**
   * Returns the state at `position`, the end of an utterance, for its checkpoint; `activity` is that
   * of the voice activity there. Absent for the reader of one of several channels, which makes no
   * checkpoints.
   */
  checkpointAt?: (position: number, activity: Uint8Array) => NonNullable<Utterance["checkpoint"]>;
}
