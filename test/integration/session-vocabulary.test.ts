import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ResponseMessage } from "../../workers/speech/reader.ts";
import { pinkNoise, toChunks, toSignal, withNoise } from "../eval/degraded-audio.ts";
import { seededRandom } from "../eval/made-conversation.ts";
import { type RunningEngine, startMoonshine } from "../support/moonshine-engine.ts";
import {
  chunkMessages,
  readConversation,
  readSession,
  textOf,
  utterancesOf,
} from "../support/read-session.ts";

const LIMIT_MS = 120_000;
const SECOND = 16_000;
const speech = toSignal(readConversation().subarray(0, 22 * SECOND));
/** In noise these are misread without help. */
const noisy = withNoise(speech, pinkNoise(speech.length, seededRandom(3)), 8);
const SAID = ["work on Friday", "find any big problems", "open our new shop"];
const spoken = chunkMessages(toChunks(noisy));

let engine: RunningEngine;

const read = (vocabulary: readonly string[]): Promise<ResponseMessage[]> =>
  readSession(engine, spoken, undefined, undefined, vocabulary);

beforeAll(async () => {
  engine = await startMoonshine();
}, LIMIT_MS);
afterAll(() => engine?.close());

describe("vocabulary", () => {
  it(
    "vocabulary: phrases that are misread are found, and the next session is read as if they had never been told",
    async () => {
      const without = await read([]);
      const found = (messages: readonly ResponseMessage[]): number =>
        SAID.filter((phrase) => textOf(messages).includes(phrase)).length;
      expect(found(without)).toBe(0);
      expect(found(await read(["completed the work on Friday", ...SAID.slice(1)]))).toBe(3);
      expect(utterancesOf(await read([]))).toEqual(utterancesOf(without));
    },
    LIMIT_MS,
  );

  it(
    "vocabulary: what was not said is not heard, and strange signs do no harm",
    async () => {
      const names = ["Kubernetes", "Silver Fern", "Okonkwo", "Tolliver"];
      const strange = ["<s>", "-99 <s>", "\\end\\", "a\nb", "'", "  ", "東京", "x".repeat(100)];
      const heard = textOf(await read([...names, ...strange]));
      for (const name of names) expect(heard).not.toContain(name);
      expect(heard).toContain("we will talk about the launch of the new system");
    },
    LIMIT_MS,
  );
});
