import { setImmediate } from "node:timers/promises";
import { beforeEach, expect, it } from "vitest";
import { createDeferred, type Deferred } from "../../../../../src/base/deferred.ts";
import type { SessionInference } from "../../../../../workers/inference/inference-client.ts";
import type { RecognitionAnswer } from "../../../../../workers/inference/inference-protocol.ts";
import { MoonshineRecogniser } from "../../../../../workers/speech/moonshine/moonshine-recogniser.ts";

const SECOND = 16_000;

/** What was asked for: whether finally, and how much sound, samples. */
let asked: { isFinal: boolean; samples: number; answer: Deferred<RecognitionAnswer | undefined> }[];
let now: number;
let recogniser: MoonshineRecogniser;

beforeEach(() => {
  asked = [];
  now = 0;
  const read: SessionInference["read"] = ({ isFinal, pcm }) => {
    const answer = createDeferred<RecognitionAnswer | undefined>();
    asked.push({ isFinal, samples: pcm.length, answer });
    return { answer: answer.promise, drop: () => answer.resolve(undefined) };
  };
  const hear = (): never => {
    throw new Error("no voices here");
  };
  recogniser = new MoonshineRecogniser({ read, hear }, () => now);
  recogniser.start(0);
});

/** So much later so much more was said. */
function speak(seconds: number): void {
  recogniser.feed(new Int16Array(seconds * SECOND).fill(1_000));
  now += 1_000 * seconds;
  recogniser.hypothesis();
}

async function answer(): Promise<void> {
  asked.at(-1)?.answer.resolve(undefined);
  await setImmediate();
}

it("reads a beginning once there is enough of it, and then a quarter of a second later at the earliest", async () => {
  speak(0.7);
  expect(asked).toEqual([]);
  speak(0.1);
  expect(asked.map(({ samples }) => samples)).toEqual([0.8 * SECOND]);
  await answer();
  now += 5_000;
  speak(0.2);
  expect(asked).toHaveLength(1);
  speak(0.1);
  expect(asked.map(({ samples }) => samples)).toEqual([0.8 * SECOND, 1.1 * SECOND]);
});

it("what a reading in a pause had is not read again as soon as speech goes on", async () => {
  recogniser.feed(new Int16Array(2 * SECOND).fill(1_000));
  recogniser.mayEnd();
  expect(asked.map(({ isFinal }) => isFinal)).toEqual([true]);
  await answer();
  now += 5_000;
  speak(0.1);
  expect(asked).toHaveLength(1);
  speak(0.2);
  expect(asked.map(({ isFinal, samples }) => [isFinal, samples])).toEqual([
    [true, 2 * SECOND],
    [false, 2.3 * SECOND],
  ]);
});
