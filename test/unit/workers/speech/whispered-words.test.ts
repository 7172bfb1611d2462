import { describe, expect, it } from "vitest";
import type { RecognisedWord } from "../../../../workers/speech/recogniser.ts";
import { RecogniserPool } from "../../../../workers/speech/recogniser-pool.ts";
import { clatteringSounds } from "../../../eval/clattering-sound.ts";
import { seededRandom } from "../../../eval/made-conversation.ts";
import {
  chunkMessages,
  cutChunks,
  readConversation,
  readSession,
  utterancesOf,
} from "../../../support/read-session.ts";
import { StillRecogniser } from "../../../support/still-recogniser.ts";

const RATE = 16_000;

/** An engine that is sure of a word in each third of a second, whatever it is given. */
class SureRecogniser extends StillRecogniser {
  readonly confidenceFloor = 0.6;
  #start = 0;
  #fed = 0;

  override start(position: number): void {
    this.#start = position;
    this.#fed = 0;
  }

  override feed(pcm: Int16Array): void {
    this.#fed += pcm.length;
  }

  override finish(): RecognisedWord[] {
    const length = RATE / 3;
    return Array.from({ length: Math.floor(this.#fed / length) }, (_, place) => {
      const start = Math.round(this.#start + place * length);
      return { text: `word${place}`, start, end: start + 5_000, confidence: 0.9 };
    });
  }
}

async function wordsOf(pcm: Int16Array) {
  const options = { size: 1, waitMs: 1_000, waiters: 1 };
  const recognisers = new RecogniserPool(async () => new SureRecogniser(), options);
  try {
    const messages = await readSession(recognisers, chunkMessages(cutChunks(pcm, 10 * RATE)));
    return utterancesOf(messages).flatMap(({ segments }) => segments.flatMap(({ words }) => words));
  } finally {
    await recognisers.close();
  }
}

/** Noise in syllables of several colours, three in a second, with a rest after each ninth. */
function whispered(seconds: number): Int16Array {
  const random = seededRandom(5);
  const zeros = [1, 0.5, 0.8];
  let before = 0;
  return Int16Array.from({ length: seconds * RATE }, (_, at) => {
    const time = at / RATE;
    const now = random() - 0.5;
    const value = now - (zeros[Math.floor(3 * time) % zeros.length] ?? 0) * before;
    before = now;
    const isRest = time % 5 > 3;
    return isRest ? 10 * value : 6_000 * Math.sin(Math.PI * 3 * time) ** 2 * value;
  });
}

describe("whispered words", () => {
  it("whispered words: they are kept, and each is marked as unclear however sure the engine is", async () => {
    const words = await wordsOf(whispered(10));
    expect(words.length).toBeGreaterThan(5);
    expect(words.every(({ unclear }) => unclear === true)).toBe(true);
  });

  it("whispered words: those of a voice are marked by the engine's floor, those of keys are none", async () => {
    const spoken = await wordsOf(readConversation().subarray(0, 10 * RATE));
    expect(spoken.length).toBeGreaterThan(10);
    expect(spoken.some(({ unclear }) => unclear === true)).toBe(false);
    const keys = clatteringSounds(10)["clatter: keys"]?.() ?? new Int16Array(0);
    expect(await wordsOf(keys)).toEqual([]);
  });
});
