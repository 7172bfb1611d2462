import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Word } from "../../src/wire/gen/voice/v1/worker.ts";
import { pinkNoise, toChunks, toSignal, withNoise } from "../eval/degraded-audio.ts";
import { seededRandom } from "../eval/made-conversation.ts";
import { type RunningEngine, startMoonshine } from "../support/moonshine-engine.ts";
import {
  chunkMessages,
  readConversation,
  readSession,
  utterancesOf,
} from "../support/read-session.ts";

const SECOND = 16_000;
const LIMIT_MS = 300_000;
const speech = toSignal(readConversation().subarray(0, 14 * SECOND));
const noisy = withNoise(speech, pinkNoise(speech.length, seededRandom(3)), 10);

async function wordsOf(engine: RunningEngine, signal: Float64Array): Promise<Word[]> {
  const messages = await readSession(engine, chunkMessages(toChunks(signal)));
  return utterancesOf(messages).flatMap(({ segments }) => segments.flatMap(({ words }) => words));
}

describe("unclear words of a reading", () => {
  let engine: RunningEngine;
  let heard: Word[];

  beforeAll(async () => {
    engine = await startMoonshine();
    heard = await wordsOf(engine, noisy);
  }, LIMIT_MS);
  afterAll(() => engine?.close());

  it("unclear words: those below the engine's floor, and no others", () => {
    const { confidenceFloor = 0 } = engine.engine;
    expect(heard.some(({ unclear }) => unclear === true)).toBe(true);
    for (const { unclear, confidence } of heard) {
      expect(unclear === true).toBe(confidence < confidenceFloor);
    }
  });

  it(
    "unclear words: an engine that announces no floor has none, and the same words",
    async () => {
      const create = async () => {
        const recogniser = await engine.create();
        return Object.defineProperty(recogniser, "confidenceFloor", { value: undefined });
      };
      const words = await wordsOf({ ...engine, create }, noisy);
      expect(words.some(({ unclear }) => unclear !== undefined)).toBe(false);
      expect(words).toEqual(heard.map(({ unclear: _, ...word }) => word));
    },
    LIMIT_MS,
  );
});
