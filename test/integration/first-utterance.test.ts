import { expect, it } from "vitest";
import { MeteredRecogniser } from "../../workers/speech/metered-recogniser.ts";
import { loadNativeLibrary } from "../../workers/speech/pocketsphinx/native-library.ts";
import { PocketsphinxRecogniser } from "../../workers/speech/pocketsphinx/pocketsphinx-recogniser.ts";
import { RecogniserPool } from "../../workers/speech/recogniser-pool.ts";
import { findSpeechRoot } from "../support/native-packages.ts";
import {
  cutChunks,
  readConversation,
  SessionReading,
  utterancesOf,
} from "../support/read-session.ts";

const SECOND = 16_000;
const LIMIT_MS = 300_000;

class CountingRecogniser extends MeteredRecogniser {
  fed = 0;

  override feed(pcm: Int16Array): void {
    this.fed += pcm.length;
    super.feed(pcm);
  }
}

// An utterance of 1.5 s begins the conversation, one of 6 s follows at 10 s.
it.each([0, 10])(
  "first utterance: from %d s on, its final waits for the reading of little more than its last pause",
  async (from) => {
    const made: CountingRecogniser[] = [];
    const create = async () => {
      const native = loadNativeLibrary(findSpeechRoot());
      const recogniser = new CountingRecogniser(await PocketsphinxRecogniser.load(native));
      made.push(recogniser);
      return recogniser;
    };
    const recognisers = new RecogniserPool(create, { size: 1, waitMs: 1_000, waiters: 1 });
    const reading = await SessionReading.open(recognisers);
    const pcm = readConversation().subarray(from * SECOND, (from + 8) * SECOND);
    let before = 0;
    for (const value of cutChunks(pcm, 0.06 * SECOND)) {
      before = made[0]?.fed ?? 0;
      const [final] = utterancesOf(reading.feed({ $case: "chunk", value }));
      if (final === undefined || final.segments.length === 0) continue;
      const read = (made[0]?.fed ?? 0) - before;
      expect(read).toBeLessThan(0.4 * SECOND);
      // Some of it was read more than once: the channel was estimated.
      expect(made[0]?.fed).toBeGreaterThan(final.end - final.start + SECOND);
      break;
    }
    expect(before).toBeGreaterThan(SECOND);
    reading.close();
    await recognisers.close();
  },
  LIMIT_MS,
);
