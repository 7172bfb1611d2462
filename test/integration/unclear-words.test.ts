import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Word } from "../../src/wire/gen/voice/v1/worker.ts";
import { loadNativeLibrary } from "../../workers/speech/pocketsphinx/native-library.ts";
import { PocketsphinxRecogniser } from "../../workers/speech/pocketsphinx/pocketsphinx-recogniser.ts";
import { CONFIDENCE_FLOOR } from "../../workers/speech/pocketsphinx/word-confidence.ts";
import { RecogniserPool } from "../../workers/speech/recogniser-pool.ts";
import { pinkNoise, toChunks, toSignal, withNoise } from "../eval/degraded-audio.ts";
import { seededRandom } from "../eval/made-conversation.ts";
import { findSpeechRoot } from "../support/native-packages.ts";
import {
  chunkMessages,
  readConversation,
  readSession,
  utterancesOf,
} from "../support/read-session.ts";

const SECOND = 16_000;
const LIMIT_MS = 300_000;
const speech = toSignal(readConversation().subarray(0, 14 * SECOND));
const noisy = withNoise(speech, pinkNoise(speech.length, seededRandom(3)), 15);

function poolOf(change: (recogniser: PocketsphinxRecogniser) => void = () => {}): RecogniserPool {
  const library = loadNativeLibrary(findSpeechRoot());
  const load = async () => {
    const recogniser = await PocketsphinxRecogniser.load(library);
    change(recogniser);
    return recogniser;
  };
  return new RecogniserPool(load, { size: 1, waitMs: 1_000, waiters: 1 });
}

async function wordsOf(recognisers: RecogniserPool, signal: Float64Array): Promise<Word[]> {
  const messages = await readSession(recognisers, chunkMessages(toChunks(signal)));
  return utterancesOf(messages).flatMap(({ segments }) => segments.flatMap(({ words }) => words));
}

describe("unclear words of a reading", () => {
  let recognisers: RecogniserPool;
  let heard: Word[];

  beforeAll(async () => {
    recognisers = poolOf();
    heard = await wordsOf(recognisers, noisy);
  }, LIMIT_MS);
  afterAll(() => recognisers?.close());

  it("unclear words: those below the engine's floor, and no others", () => {
    expect(heard.some(({ unclear }) => unclear === true)).toBe(true);
    for (const { unclear, confidence } of heard) {
      expect(unclear === true).toBe(confidence < CONFIDENCE_FLOOR);
    }
  });

  it(
    "unclear words: few in clear speech, many more in noise",
    async () => {
      const clear = await wordsOf(recognisers, speech);
      const share = (words: readonly Word[]) =>
        words.filter(({ unclear }) => unclear === true).length / words.length;
      expect(share(clear)).toBeLessThan(0.1);
      expect(share(heard)).toBeGreaterThan(3 * share(clear) + 0.1);
    },
    LIMIT_MS,
  );

  it(
    "unclear words: an engine that announces no floor has none, and the same words",
    async () => {
      const without = poolOf((recogniser) => {
        Object.defineProperty(recogniser, "confidenceFloor", { value: undefined });
      });
      const words = await wordsOf(without, noisy);
      await without.close();
      expect(words.some(({ unclear }) => unclear !== undefined)).toBe(false);
      expect(words).toEqual(heard.map(({ unclear: _, ...word }) => word));
    },
    LIMIT_MS,
  );
});
