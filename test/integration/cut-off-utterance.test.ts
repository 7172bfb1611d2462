import { afterAll, beforeAll, expect, it } from "vitest";
import { loadNativeLibrary } from "../../workers/speech/pocketsphinx/native-library.ts";
import { PocketsphinxRecogniser } from "../../workers/speech/pocketsphinx/pocketsphinx-recogniser.ts";
import { findSpeechRoot } from "../support/native-packages.ts";
import { readConversation } from "../support/read-session.ts";

const SECOND = 16_000;
const BLOCK = 1_600;
const LIMIT_MS = 120_000;

let recogniser: PocketsphinxRecogniser;
beforeAll(async () => {
  recogniser = await PocketsphinxRecogniser.load(loadNativeLibrary(findSpeechRoot()));
}, LIMIT_MS);
afterAll(() => recogniser?.close());

/** Seconds of the conversation as one utterance: what was heard before its end, and what it gave. */
function read(from: number, to: number): { heard: string[]; words: string[]; confidence: number } {
  const pcm = readConversation().subarray(from * SECOND, to * SECOND);
  recogniser.restore();
  recogniser.calibrate(pcm);
  recogniser.start(0);
  for (let at = 0; at < pcm.length; at += BLOCK) recogniser.feed(pcm.subarray(at, at + BLOCK));
  const heard = recogniser.hypothesis().map(({ text }) => text);
  const words = recogniser.finish();
  const confidence = Math.min(...words.map((word) => word.confidence));
  return { heard, words: words.map(({ text }) => text), confidence };
}

it.each([
  [10, 15],
  [12, 15],
])(
  "an utterance that is cut off within a word, from %d to %d s, keeps what was heard",
  (from, to) => {
    const { heard, words, confidence } = read(from, to);
    expect(words).toEqual(heard);
    expect(words.join(" ")).toContain("open our new shop in the first");
    expect(confidence).toBe(recogniser.confidenceFloor);
  },
  30_000,
);

it("an utterance of silence has no words", () => {
  recogniser.restore();
  recogniser.start(0);
  for (let n = 0; n < 20; n += 1) recogniser.feed(new Int16Array(BLOCK));
  expect(recogniser.finish()).toEqual([]);
});
