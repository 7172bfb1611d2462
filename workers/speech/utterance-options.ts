import type { Utterance } from "../../src/wire/gen/voice/v1/worker.ts";
import type { VoiceActivity } from "../audio/voice-activity.ts";
import type { SpeakerTracker } from "../speakers/speaker-tracker.ts";
import type { PauseState } from "./pause-wait.ts";
import type { Recogniser } from "./recogniser.ts";
import type { ChannelRecogniser } from "./shared-recogniser.ts";

/** What an UtteranceReader is made with. */
export interface UtteranceReaderOptions {
  position: number;
  recogniser: Recogniser;
  activity: Pick<VoiceActivity, "isVoiced">;
  tracker: SpeakerTracker;
  interimResults: boolean;
  /** What an earlier reading learnt of the pauses. */
  pauses: PauseState | undefined;
  /** True while so much audio waits that hypotheses are skipped. */
  isPressed: () => boolean;
  /** False to make a checkpoint with every final. */
  sparseCheckpoints: boolean;
  /**
   * Returns the state at `position`, the end of an utterance, for its checkpoint. Absent for the
   * reader of one of several channels, which makes no checkpoints.
   */
  checkpointAt?: (position: number) => NonNullable<Utterance["checkpoint"]>;
  /** Taken and given back around each utterance; absent when the recogniser is the reader's own. */
  turns?: Pick<ChannelRecogniser, "take" | "give">;
}
